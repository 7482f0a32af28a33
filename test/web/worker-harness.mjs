// Drives the page's worker, and takes times: the same text in Chromium and, as a program, in Node.
// `node worker-harness.mjs DIST/WEB < {"small": PATH, "large": PATH}` prints the result of
// `measure`.

/**
 * `post` sends to the worker, `take` sets who hears it; `load` reads a file of the page, unpacked;
 * `cpu` answers with nanoseconds of processor time of each thread. Capsules are of one program,
 * with few and with many instructions.
 */
async function measure({ post, take, load, cpu }, assets, small, large) {
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
  // Seconds of the thread that worked most: unlike the time of day, other load is not in them.
  const open = async capsule => {
    const before = await cpu();
    await ask('prepare', { capsule, name: 'capsule', assets, texts: [] });
    const value = await ask('open', {});
    const spent = Object.entries(await cpu()).map(([id, now]) => now - (before[id] ?? 0));
    return { value, seconds: Math.max(...spent) / 1e9 };
  };
  // Warm: both have run once. The loop of the program is the difference between the two.
  const first = await open(small);
  let [less, opened] = [first.value, (await open(large)).value];
  const rates = [];
  for (let i = 0; i < 5; i++) {
    const [few, many] = [await open(small), await open(large)];
    [less, opened] = [few.value, many.value];
    rates.push((1e-6 * (opened.instructions - less.instructions)) / (many.seconds - few.seconds));
  }
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
    mips: sorted(rates),
    instructions: opened.instructions,
    differences: [...first.value.differences, ...opened.differences],
    seeks: sorted(seeks),
    writes: sorted(writes),
  };
}

/** The same for a program of Node. */
async function inNode(folder) {
  const { readFileSync, readdirSync } = await import('node:fs');
  const tasks = '/proc/self/task';
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
    cpu: async () =>
      Object.fromEntries(
        readdirSync(tasks).map(id => [
          id,
          Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]),
        ]),
      ),
  };
  const { small, large } = JSON.parse(readFileSync(0, 'utf8'));
  const assets = JSON.parse(new TextDecoder().decode(await load('assets.packed')));
  const capsules = [small, large].map(path => new Uint8Array(readFileSync(path)));
  process.stdout.write(JSON.stringify(await measure(ends, assets, ...capsules)));
  await worker.terminate();
}

if (globalThis.process?.argv?.[2] !== undefined) await inNode(process.argv[2]);
