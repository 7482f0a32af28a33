// Build products are found again, but never if one of their inputs has changed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cached, cacheEntries, pruneCache, temporaryPath } from '../../toolchain/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-cache-'));
const input = join(dir, 'input');
const before = process.env['KCOVBOX_CACHE'];
beforeAll(() => {
  process.env['KCOVBOX_CACHE'] = join(dir, 'cache');
});
afterAll(() => {
  if (before === undefined) delete process.env['KCOVBOX_CACHE'];
  else process.env['KCOVBOX_CACHE'] = before;
  rmSync(dir, { recursive: true, force: true });
});

/** A build that copies its input. */
const make = (key = 'copy', inputs: readonly string[] = [input]) =>
  cached('test', key, { label: key }, async output => {
    writeFileSync(output, readFileSync(input));
    return inputs;
  });
const old = (path: string): void => utimesSync(path, 1e9, 1e9);
const settle = () => new Promise(done => setTimeout(done, 150));

test('a product is built once, and again when its input has changed', async () => {
  writeFileSync(input, 'one');
  expect((await make()).built).toBe(true);
  expect((await make()).built).toBe(false);
  writeFileSync(input, 'two');
  const { path, built } = await make();
  expect(built).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('two');
});

test('calls at the same time build once, a failure does not stop the next', async () => {
  const builds = await Promise.all([make('twice'), make('twice'), make('twice')]);
  expect(builds.map(({ built }) => built)).toEqual([true, false, false]);
  let tries = 0;
  const second = () =>
    cached('test', 'fails', { label: 'fails' }, async output => {
      if (++tries === 1) throw new Error('first');
      writeFileSync(output, 'x');
      return [];
    });
  const results = await Promise.allSettled([second(), second()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('an input that was only touched builds nothing', async () => {
  await make();
  await settle();
  old(input);
  expect((await make()).built).toBe(false);
});

test('a change of the same length with its old time is seen', async () => {
  old(input);
  await settle();
  await make();
  writeFileSync(input, 'six');
  old(input);
  const { path } = await make();
  expect(readFileSync(path, 'utf8')).toBe('six');
});

test('a damaged product or manifest is made anew', async () => {
  const { path } = await make();
  await settle();
  await make();
  writeFileSync(path, 'sxx');
  expect((await make()).built).toBe(true);
  writeFileSync(`${path}.json`, '{"key":');
  expect((await make()).built).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('six');
});

test('a new file in a folder that was read is a change', async () => {
  await make('folder', [input, dir]);
  expect((await make('folder', [input, dir])).built).toBe(false);
  writeFileSync(join(dir, 'new'), '');
  expect((await make('folder', [input, dir])).built).toBe(true);
});

test('keys do not share products', async () => {
  const [a, b] = [await make('a'), await make('b')];
  expect(a.path).not.toBe(b.path);
});

test('a cache that cannot be written is refused in one line that says what to do', async () => {
  writeFileSync(join(dir, 'file'), '');
  process.env['KCOVBOX_CACHE'] = join(dir, 'file');
  await expect(make('refused')).rejects.toThrow(/^cannot write the cache .*file\/test \(.*set KCOVBOX_CACHE/);
  process.env['KCOVBOX_CACHE'] = join(dir, 'cache');
});

test('what an interrupted build left goes with the next one; what a running one needs stays', async () => {
  const folder = join(dir, 'cache', 'test');
  const { pid } = spawnSync('true');
  const [gone, mine] = [`${temporaryPath('x', pid)}.objects`, temporaryPath('x')];
  await make('sweep');
  mkdirSync(join(folder, gone));
  writeFileSync(join(folder, gone, 'a.o'), '');
  writeFileSync(join(folder, mine), '');
  await make('sweep again');
  expect(existsSync(join(folder, gone))).toBe(false);
  expect(existsSync(join(folder, mine))).toBe(true);
});

// As where the first process of a container does not wait for those that lost their parent.
test.skipIf(process.platform !== 'linux')('a writer that nobody waits for has ended', async () => {
  // The child ends when its parent is a program that does not wait.
  const script = '(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 60';
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const state = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]![0];
    while (state() !== 'Z') await new Promise(done => setTimeout(done, 5));
    const left = join(dir, 'cache', 'test', temporaryPath('x', pid));
    await make('zombie');
    writeFileSync(left, '');
    await make('behind the zombie');
    expect(existsSync(left)).toBe(false);
  } finally {
    parent.kill('SIGKILL');
  }
});

test('a build that fails leaves nothing, also where its linker was killed', async () => {
  const folder = join(dir, 'cache', 'failed');
  const killed = cached('failed', 'key', { label: 'x', suffix: '.elf' }, output => {
    for (const suffix of ['', '.elf.tmpa98d3f0', '.objects']) writeFileSync(output + suffix, '');
    throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect(readdirSync(folder)).toEqual([]);
  const { pid } = spawnSync('true');
  const left = `${temporaryPath('x.elf', pid)}.elf.tmpa98d3f0`;
  writeFileSync(join(folder, left), '');
  await cached('failed', 'next', { label: 'next' }, async output => {
    writeFileSync(output, '');
    return [];
  });
  expect(existsSync(join(folder, left))).toBe(false);
});

test('what a process in another container writes stays for a day', async () => {
  const folder = join(dir, 'cache', 'test');
  const { pid } = spawnSync('true');
  const elsewhere = temporaryPath('x', pid).replace(/-[0-9a-f]{8}\.tmp$/, '-00000000.tmp');
  await make('elsewhere');
  writeFileSync(join(folder, elsewhere), '');
  await make('elsewhere again');
  expect(existsSync(join(folder, elsewhere))).toBe(true);
  old(join(folder, elsewhere));
  await make('a day later');
  expect(existsSync(join(folder, elsewhere))).toBe(false);
});

test('prune removes what was not used since, with its manifest', async () => {
  const kernel = join(dir, 'cache', 'kernel', 'linux-000000000000.elf');
  mkdirSync(join(dir, 'cache', 'kernel'), { recursive: true });
  for (const file of [kernel, `${kernel}.json`, join(dir, 'cache', 'kernel', 'linux-111111111111.elf')])
    writeFileSync(file, 'x');
  for (const file of [kernel, `${kernel}.json`]) old(file);
  expect(cacheEntries().map(entry => entry.bytes)).toEqual([1, 2]);
  expect(pruneCache(1.1e12).map(entry => entry.path)).toEqual([kernel]);
  expect([existsSync(kernel), existsSync(`${kernel}.json`)]).toEqual([false, false]);
  expect(cacheEntries()).toHaveLength(1);
});

test('what a killed build left is listed and pruned, with all that is in it', () => {
  const folder = join(dir, 'cache', 'kernel');
  const { pid } = spawnSync('true');
  const product = 'linux-222222222222.elf';
  const half = temporaryPath(product, pid);
  const left = [`${half}.objects`, half, temporaryPath(`${product}.json`, pid)];
  const running = `${temporaryPath(product)}.objects`;
  const foreign = temporaryPath('mine', pid);
  for (const name of [left[0]!, running]) {
    mkdirSync(join(folder, name, 'kernel'), { recursive: true });
    writeFileSync(join(folder, name, 'kernel', 'a.o'), 'xyz');
  }
  for (const name of [...left.slice(1), foreign]) writeFileSync(join(folder, name), 'x');
  const entries = cacheEntries().filter(({ path }) => path.includes('222222222222'));
  expect(entries.map(({ path, bytes }) => [path, bytes]).sort()).toEqual(
    [...left.entries()].map(([i, name]) => [join(folder, name), i === 0 ? 3 : 1]).sort(),
  );
  pruneCache(Number.POSITIVE_INFINITY);
  for (const name of left) expect(existsSync(join(folder, name)), name).toBe(false);
  for (const name of [running, foreign]) expect(existsSync(join(folder, name)), name).toBe(true);
  for (const name of [running, foreign]) rmSync(join(folder, name), { recursive: true });
});

test('prune leaves files that kcovbox has not made, in whatever folder KCOVBOX_CACHE names', () => {
  const names = [
    'kernel/main.c',
    'kernel/linux.elf',
    'bench/build.ts',
    'image/photo',
    'objects/a.o',
    'objects/package.json',
    'program/notes-2024',
  ];
  const ours = ['image', 'a'.repeat(64)].join('/');
  for (const name of [...names, ours]) {
    const path = join(dir, 'cache', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    old(path);
  }
  pruneCache(Number.POSITIVE_INFINITY);
  expect(names.filter(name => !existsSync(join(dir, 'cache', name)))).toEqual([]);
  expect(existsSync(join(dir, 'cache', ours))).toBe(false);
});
