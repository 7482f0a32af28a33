// Drives the page's worker, and takes times: the same text in Chromium and, as a program, in Node.
// `node worker-harness.mjs DIST/WEB < {"small": PATH, "large": PATH}` prints the result of
// `measure`.

/**
 * `post` sends to the worker, `take` sets who hears it; `load` reads a file of the page, unpacked.
 * Capsules are of one program, with few and with many instructions.
 */
async function measure({ post, take, load }, assets, small, large) {
  const waiting = new Map();
  let next = 1;
  take(data => {
    if ('want' in data) return void load(data.want).then(bytes => post({ path: data.want, bytes }));
    const { done, failed } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.ok) done(data.value);
    else failed(new Error(data.error));
  });
  const ask = (name, args) =>
    new Promise((done, failed) => {
      const id = next++;
      waiting.set(id, { done, failed });
      post({ id, name, args });
    });
  const timed = async work => {
    const start = performance.now();
    const value = await work();
    return { value, ms: performance.now() - start };
  };
  const open = capsule => timed(() => ask('open', { capsule, name: 'capsule', assets, texts: {} }));
  const first = await open(small);
  // Of many, the shortest: other processes only add to it.
  const shortest = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [less, opened] = [first.value, first.value];
  for (let i = 0; i < 4; i++) {
    const [few, many] = [await open(small), await open(large)];
    [less, opened] = [few.value, many.value];
    for (const [k, { ms }] of [few, many].entries()) shortest[k] = Math.min(shortest[k], ms);
  }
  const best = (shortest[1] - shortest[0]) / (opened.instructions - less.instructions);
  let seed = 12345;
  const random = below => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const seeks = [];
  for (let i = 0; i < 200; i++)
    seeks.push((await timed(() => ask('seek', { unit: random(opened.last) }))).ms);
  const writes = [];
  for (let i = 0; i < 30; i++) {
    await ask('seek', { unit: opened.last });
    // Data, stacks and page tables of the kernel, and pages of the program.
    const address = 0x8025f000 + 8 * random(1 << 18);
    await ask('follow', { what: `@0x${address.toString(16)}` });
    writes.push((await timed(() => ask('write', { direction: 'back' }))).ms);
  }
  const sorted = times => times.sort((a, b) => a - b);
  return {
    mips: 1e-3 / best,
    instructions: opened.instructions,
    differences: [...first.value.differences, ...opened.differences],
    seeks: sorted(seeks),
    writes: sorted(writes),
  };
}

/** The same for a program of Node. */
async function inNode(folder) {
  const { readFileSync, readdirSync } = await import('node:fs');
  const { gunzipSync } = await import('node:zlib');
  const { Worker } = await import('node:worker_threads');
  const { join } = await import('node:path');
  const load = async path => {
    const bytes = readFileSync(join(folder, path));
    return new Uint8Array(path.endsWith('.packed') ? gunzipSync(bytes) : bytes);
  };
  const name = readdirSync(join(folder, 'assets')).find(one => one.startsWith('worker-'));
  const script = new TextDecoder().decode(await load(`assets/${name}`));
  const scope = `const { parentPort } = require('node:worker_threads');
globalThis.self = { postMessage: message => parentPort.postMessage(message) };
parentPort.on('message', data => self.onmessage({ data }));
`;
  const worker = new Worker(scope + script, { eval: true });
  const ends = {
    post: message => worker.postMessage(message),
    take: heard => worker.on('message', heard),
    load,
  };
  const { small, large } = JSON.parse(readFileSync(0, 'utf8'));
  const assets = JSON.parse(new TextDecoder().decode(await load('assets.packed')));
  const capsules = [small, large].map(path => new Uint8Array(readFileSync(path)));
  process.stdout.write(JSON.stringify(await measure(ends, assets, ...capsules)));
  await worker.terminate();
}

if (globalThis.process?.argv?.[2] !== undefined) await inNode(process.argv[2]);
