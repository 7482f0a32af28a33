// `--result` and `--record` are outputs that people give to every run: a small program must not pay
// for them. Their cost in time is in docs/performance.md; here are its causes, counted.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { COMMAND, kcovbox } from '../support/command.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-cost-'));
const at = (name: string): string => join(dir, name);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

writeFileSync(at('hello.c'), '#include <stdio.h>\nint main(void) { puts("hello"); }\n');
writeFileSync(at('spin.c'), '#include <unistd.h>\nint main(void) { write(1, "go\\n", 3); for (;;) ; }\n');
/** Writes the names of all of Node's modules that were loaded, behind the run. */
writeFileSync(
  at('modules.cjs'),
  `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(at('list'))}, process.moduleLoadList.join('\\n')));`,
);

/** Node's modules that a run of a small program loads. */
function modules(...options: string[]): string[] {
  const env = { ...process.env, NODE_OPTIONS: `--require ${at('modules.cjs')}` };
  const { status, stdout } = kcovbox(['run', ...options, 'hello.c'], { cwd: dir, env });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'hello\n' });
  return readFileSync(at('list'), 'utf8').split('\n');
}

/** Modules that the options add, once the cache knows the program. */
function added(...options: string[]): string[] {
  modules(...options);
  const plain = new Set(modules());
  return modules(...options).filter(name => !plain.has(name));
}

describe.skipIf(!ready)('outputs that describe a run', () => {
  test('--result: no thread, no cryptography, no second look at the images', () => {
    const loaded = added('--result', 'a.json');
    expect(loaded.filter(name => /worker|crypto|zlib|child_process|inspector/.test(name))).toEqual([]);
    expect(loaded.length).toBeLessThan(6);
  }, 120_000);

  test('--record: the same but for the hash of the images', () => {
    const loaded = added('--record', 'a.kcapsule');
    expect(loaded.filter(name => /worker|zlib|child_process|inspector/.test(name))).toEqual([]);
  }, 120_000);

  test('a capsule of kept parts has the bytes of one that was packed', () => {
    const cache = at('cache');
    const record = (name: string) => {
      const env = { ...process.env, KCOVBOX_CACHE: cache };
      expect(kcovbox(['run', '--record', name, 'hello.c'], { cwd: dir, env }).status).toBe(0);
      return readFileSync(at(name));
    };
    const packed = record('1.kcapsule');
    const kept = readdirSync(join(cache, 'packed'));
    expect(kept.length).toBe(2); // kernel and initrd
    expect(record('2.kcapsule').equals(packed)).toBe(true);
    // A damaged file is made again.
    for (const name of kept) {
      const file = readFileSync(join(cache, 'packed', name));
      file[file.length >> 1]! ^= 1;
      writeFileSync(join(cache, 'packed', name), file);
    }
    expect(record('3.kcapsule').equals(packed)).toBe(true);
    for (const name of kept) writeFileSync(join(cache, 'packed', name), '{}\n');
    expect(record('4.kcapsule').equals(packed)).toBe(true);
  }, 300_000);

  test('the hashes in a result are those of the images', () => {
    const runs = ['1.json', '2.json'].map(name => {
      expect(kcovbox(['run', '--result', name, 'hello.c'], { cwd: dir }).status).toBe(0);
      return readFileSync(at(name), 'utf8');
    });
    expect(runs[1]).toBe(runs[0]);
    expect(kcovbox(['run', '--record', 'h.kcapsule', 'hello.c'], { cwd: dir }).status).toBe(0);
    const info = kcovbox(['capsule', 'info', '--json', 'h.kcapsule'], { cwd: dir });
    const { run, parts } = JSON.parse(info.stdout) as {
      run: { images: { kernel: { sha256: string }; initrd: string } };
      parts: { name: string; sha256: string }[];
    };
    const { images } = (JSON.parse(runs[0]!) as { run: typeof run }).run;
    const hashOf = (part: string) => parts.find(({ name }) => name === part)!.sha256;
    expect(images.kernel.sha256).toBe(hashOf('kernel.bin'));
    expect(images.initrd).toBe(hashOf('initrd.bin'));
  }, 120_000);

  test('a process that saw the first line can end the run in order', async () => {
    const args = [COMMAND, 'run', '--result', 'spin.json', 'spin.c'];
    const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.once('data', () => child.kill('SIGTERM'));
    expect(await new Promise(done => child.once('close', done))).toBe(143);
    const { outcome } = JSON.parse(readFileSync(at('spin.json'), 'utf8')) as { outcome: { end: string } };
    expect(outcome.end).toBe('interrupted');
  }, 120_000);
});
