// A search over untrusted capsules, through the command: each mutant replays the recorded run or is
// refused with one line, and leaves no file.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble, ECHO, FINISH } from '../support/asm.ts';
import { mutateCapsule } from '../support/capsule-mutants.ts';
import { isOneLine, kcovbox, ROOT } from '../support/command.ts';
import { Random, seedText } from '../support/random.ts';

/** A program that counts the bytes of its input and returns 5. */
export const SOURCE = `#include <stdio.h>
int main(void) { int c, n = 0; while ((c = getchar()) != EOF) n++; printf("%d\\n", n); return 5; }
`;

/** Prints three bytes of input and a line feed, and returns 5. */
const ECHO_LINE = `${ECHO}
  li t0, 10
  sb t0, 0(s0)
  li a0, 5
  ${FINISH}`;

function ran(args: string[], dir: string, input: string, stdout: string): void {
  const { status, stdout: said, stderr } = kcovbox(args, { cwd: dir, input });
  if (status !== 5 || said !== stdout || stderr !== '') throw new Error(`status ${status}: ${stderr}`);
}

/** Records a run of SOURCE in `dir`; the capsule is r.kcapsule there. */
export function record(dir: string): Uint8Array {
  mkdirSync(join(dir, 'cwd'), { recursive: true });
  writeFileSync(join(dir, 'count.c'), SOURCE);
  kcovbox(['build', 'kernel'], { cwd: dir }); // a build says so on standard error
  const path = join(dir, 'r.kcapsule');
  ran(['run', '--record', path, join(dir, 'count.c')], dir, 'hello\n', '6\n');
  return new Uint8Array(readFileSync(path)); // slice() of a Buffer would not be a copy
}

/** The same for `boot`, with a kernel of a few instructions: b.kcapsule. */
export function recordBoot(dir: string): Uint8Array {
  mkdirSync(join(dir, 'cwd'), { recursive: true });
  writeFileSync(join(dir, 'echo.elf'), assemble(ECHO_LINE).bytes);
  const path = join(dir, 'b.kcapsule');
  const images = ['-bios', 'none', '-kernel', join(dir, 'echo.elf'), '-m', '16M'];
  ran(['boot', ...images, '--record', path], dir, 'abc', 'abc\n');
  return new Uint8Array(readFileSync(path));
}

interface Replayed {
  readonly status: number | null;
  readonly stderr: string;
}

function check({ status, stderr }: Replayed, name: string, cwd: string): void {
  const last = `${stderr.trimEnd().split('\n').at(-1)}\n`;
  const isSame = status === 5 && /^kcovbox: the same run: /.test(last);
  const isRefused = status === 125 && isOneLine(last) && !/internal error|RangeError|TypeError/.test(stderr);
  const left = readdirSync(cwd);
  if ((!isSame && !isRefused) || left.length > 0)
    throw new Error(`${name}: status ${status}, files [${left}]: ${stderr.slice(-2000)}`);
}

/**
 * Replays `count` mutants of `good`, each with the command in a process of its own. Errors: the
 * first that ends otherwise.
 */
export function searchMutants(dir: string, good: Uint8Array, seed: number, count: number): void {
  const random = new Random(seed);
  const cwd = join(dir, 'cwd');
  const path = join(dir, 'mutant.kcapsule');
  for (let i = 0; i < count; i++) {
    writeFileSync(path, mutateCapsule(good, random));
    const replayed = kcovbox(['replay', path], { cwd, timeout: 120_000 });
    check(replayed, `seed ${seedText(seed)}, mutant ${i}`, cwd);
  }
}

/**
 * Replays the files one after another in one process; a line of JSON for each says how it ended.
 */
const BATCH = `
  const [bundle, results, ...files] = process.argv.slice(1);
  const { main } = require(bundle);
  const { appendFileSync } = require('node:fs');
  let stderr = '';
  process.stderr.write = text => ((stderr += text), true);
  (async () => {
    for (const file of files) {
      stderr = '';
      process.exitCode = 0;
      const status = await main(['node', 'kcovbox', 'replay', file]);
      appendFileSync(results, JSON.stringify({ status, stderr }) + '\\n');
    }
    process.exit(0);
  })();`;

/**
 * The same with `size` mutants in a process: most of the time of a small replay is the start of
 * Node.
 */
export function searchInBatches(
  dir: string,
  good: Uint8Array,
  seed: number,
  count: number,
  size = 100,
): number {
  const random = new Random(seed);
  const cwd = join(dir, 'cwd');
  const results = join(dir, 'results.jsonl');
  let same = 0;
  kcovbox(['--version'], { cwd }); // builds the bundle where it is stale
  for (let done = 0; done < count; done += size) {
    rmSync(results, { force: true });
    const files = Array.from({ length: Math.min(size, count - done) }, (_, i) => {
      const path = join(dir, `mutant-${i}.kcapsule`);
      writeFileSync(path, mutateCapsule(good, random));
      return path;
    });
    const args = ['--no-warnings', '-e', BATCH, join(ROOT, 'dist', 'kcovbox.cjs'), results, ...files];
    const { status, signal } = spawnSync(process.execPath, args, { cwd, stdio: 'ignore', timeout: 600_000 });
    const lines = existsSync(results) ? readFileSync(results, 'utf8').split('\n').slice(0, -1) : [];
    lines.forEach((line, i) => {
      const replayed = JSON.parse(line) as Replayed;
      check(replayed, `seed ${seedText(seed)}, mutant ${done + i}`, cwd);
      if (replayed.status === 5) same++;
    });
    if (lines.length < files.length)
      throw new Error(
        `seed ${seedText(seed)}, mutant ${done + lines.length}: the command ended with ${status ?? signal}; ${files[lines.length]}`,
      );
  }
  return same;
}
