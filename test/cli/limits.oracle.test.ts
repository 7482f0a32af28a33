// Files of traces at their limits, and writers that are killed. Through bin/, as a user runs them.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { COVER_FORMATS } from '../../cli/cov/formats.ts';
import { CallSites, Elf, HOOK_PC, pcOf, TraceBuilder, writeTrace } from '../../coverage/index.ts';
import { temporaryPath } from '../../toolchain/index.ts';
import { buildFixture, bytesOf, missing, scratch } from '../coverage/support.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';

const reason = missing('traces at their limits', 'clang-19', 'ld.lld-19');

test('an export that is killed leaves the target as it was, and the next one cleans up', async () => {
  const cwd = scratch();
  const builder = new TraceBuilder({ dialect: 'linux' });
  const source = builder.source({ test: 'long' });
  for (let i = 0; i < 3_000_000; i++) builder.pcHalves(source, 4 * (i % 1000), 0xffff_ffff);
  writeFileSync(join(cwd, 'long.kcov'), bytesOf(writeTrace(builder.finish())));
  writeFileSync(join(cwd, 'out.csv'), 'as it was\n');
  const leftovers = (): string[] => readdirSync(cwd).filter(name => name.endsWith('.tmp'));
  const child = spawn(process.execPath, [COMMAND, 'cov', 'export', '-o', 'out.csv', 'long.kcov'], { cwd });
  const ended = new Promise<NodeJS.Signals | null>(done => child.on('exit', (_, signal) => done(signal)));
  while (leftovers().length === 0 && child.exitCode === null) await delay(2);
  child.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
  expect(readFileSync(join(cwd, 'out.csv'), 'utf8')).toBe('as it was\n');
  expect(leftovers()).toEqual([temporaryPath('out.csv', child.pid)]);
  expect(kcovbox(['cov', 'export', '-o', 'out.csv', 'long.kcov'], { cwd }).status).toBe(0);
  expect(leftovers()).toEqual([]);
  expect(readFileSync(join(cwd, 'out.csv')).length).toBeGreaterThan(30_000_000);
});

test.skipIf(reason)('100,000 tests in one trace: every verb ends', () => {
  const cwd = scratch();
  const path = buildFixture();
  const elf = new Elf(readFileSync(path), path);
  const sites = new CallSites(elf);
  const pcs = Array.from(sites.ret, pcOf).filter((_, site) => sites.hook[site] === HOOK_PC);
  const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId, flow: 'known' });
  for (let i = 0; i < 100_000; i++)
    builder.pc(builder.source({ test: `test ${i}`, thread: i, syscall: 63, call: i }), pcs[i % pcs.length]!);
  writeFileSync(join(cwd, 'many.kcov'), bytesOf(writeTrace(builder.finish())));
  // Seconds of the processor, which other processes do not use up: four times the cost.
  const exports = COVER_FORMATS.map((format): [number, string[]] => [
    format === 'kcov' || format === 'html' ? 11 : 4,
    ['export', '-k', path, '--format', format, '-o', `out.${format}`, 'many.kcov'],
  ]);
  for (const [seconds, words] of [
    ...exports,
    [4, ['stats', '-k', path, 'many.kcov']],
    [4, ['report', '-k', path, 'many.kcov']],
    [11, ['report', '-k', path, '-o', 'report.html', 'many.kcov']],
    [4, ['filter', '--test', 'test 5', '-o', 'one.kcov', 'many.kcov']],
    [4, ['merge', '-o', 'all.kcov', 'many.kcov', 'one.kcov']],
    [4, ['diff', '-k', path, 'many.kcov', 'one.kcov']],
    [8, ['diff', '-k', path, '-o', 'both.html', 'many.kcov', 'one.kcov']],
  ] satisfies [number, string[]][]) {
    const { status, signal, stderr } = within(seconds, ['cov', ...words], cwd);
    expect({ words, status, signal, stderr }).toEqual({ words, status: 0, signal: null, stderr: '' });
  }
  for (const format of COVER_FORMATS)
    expect(statSync(join(cwd, `out.${format}`)).size, format).toBeGreaterThan(100);
});

test('a command that takes more processor time than its limit is ended', () => {
  expect(within(0, ['--help'], scratch()).signal).toBe('SIGKILL');
});

test('without addresses for the memory of a machine a command says so', () => {
  const limited = ['-c', 'ulimit -v 6000000; exec "$0" "$@"', process.execPath, COMMAND, 'run'];
  const hello = join(ROOT, 'examples', 'hello.c');
  const { status, stderr } = spawnSync('sh', [...limited, hello], { cwd: scratch(), encoding: 'utf8' });
  expect(stderr).toMatch(
    /^kcovbox: the system gives no memory for a machine with \d+ MiB: [^\n]+\(ulimit -v\)\n$/,
  );
  expect(status).toBe(125);
});

/**
 * The command with at most so many seconds of processor time, and 512 MiB for the heap of Node.js.
 */
function within(seconds: number, words: readonly string[], cwd: string) {
  return spawnSync(
    'sh',
    ['-c', `ulimit -t ${seconds}; exec "$0" "$@"`, process.execPath, COMMAND, ...words],
    {
      cwd,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=512' },
    },
  );
}
