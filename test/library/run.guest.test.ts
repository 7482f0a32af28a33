// The library against the command: the same program, options and input are the same run, with the
// same trace and the same reports, and either replays what the other recorded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { allInMemory, prepareGuest } from '../../host/guest.ts';
import { Image, measure, readTrace } from '../../library/coverage.ts';
import { Machine } from '../../library/emulator.ts';
import { compile, KcovboxError, type RunOptions, replay, run } from '../../library/node.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-library-run-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const program = join(dir, 'count.c');
writeFileSync(
  program,
  `#include <stdio.h>
   #include <stdlib.h>
   int main(int argc, char **argv) {
     int c, n = 0;
     while ((c = getchar()) != EOF) n += c == '\\n';
     printf("%d lines, %d arguments, %s\\n", n, argc - 1, getenv("WORD") ? getenv("WORD") : "-");
     return n & 63;
   }`,
);
const LINES = 'a line of input\n'.repeat(7);

interface Case {
  readonly name: string;
  readonly options: RunOptions;
  readonly flags: readonly string[];
  readonly input?: string;
}

const CASES: readonly Case[] = [
  { name: 'the defaults', options: {}, flags: [] },
  {
    name: 'three harts, seeds, time and words',
    options: { harts: 3, seed: 5n, schedSeed: 9n, icount: 3, env: { WORD: 'a b' }, args: ['x', 'y'] },
    flags: ['--smp', '3', '--seed', '5', '--sched-seed', '9', '--icount', '3', '--env', 'WORD=a b'],
    input: LINES,
  },
  {
    name: 'a budget that is spent',
    options: { maxInsns: 300_000, dialect: 'linux', memory: 2 ** 26 },
    flags: ['--max-insns', '300000', '--dialect', 'linux', '-m', '64M'],
  },
];

describe.each(CASES)('$name', ({ options, flags, input = '' }) => {
  const paths = { result: join(dir, 'result.json'), capsule: join(dir, 'run.kcapsule') };
  const args = options.args ?? [];

  test('the same result, and each replays the other', async () => {
    const outputs = ['--result', paths.result, '--record', paths.capsule];
    const ran = kcovbox(['run', ...flags, ...outputs, program, '--', ...args], { cwd: dir, input });
    const theirs = JSON.parse(readFileSync(paths.result, 'utf8')) as object;
    const chunks: Uint8Array[] = [];
    const ours = await run(program, { ...options, input, onOutput: chunk => chunks.push(chunk) });
    expect(await ours.result()).toEqual(theirs);
    expect({ status: ours.status, stdout: ours.text }).toEqual({ status: ran.status, stdout: ran.stdout });
    expect(Buffer.concat(chunks).equals(ours.output)).toBe(true);

    const capsule = new Uint8Array(readFileSync(paths.capsule));
    expect(Buffer.from(ours.capsule()).equals(capsule)).toBe(true);
    const again = await replay(capsule, { engine: 'interp' });
    expect(again.differences).toEqual([]);
    expect(again.run.text).toBe(ran.stdout);
  });
});

test('input in chunks is the same run as input in one piece', async () => {
  async function* slowly(): AsyncGenerator<Uint8Array> {
    for (const byte of Buffer.from(LINES)) yield Uint8Array.of(byte);
  }
  const [whole, parts] = [await run(program, { input: LINES }), await run(program, { input: slowly() })];
  expect(whole.status).toBe(7);
  expect(parts.outcome).toEqual(whole.outcome);
});

test('a trace: of the command, of run, and of a machine of its own are the same bytes', async () => {
  const source = join(ROOT, 'guest-programs', 'linux-kcov.c');
  const path = join(dir, 'out.kcov');
  const ran = kcovbox(['run', '--dialect', 'linux', '--cover', path, source], { cwd: dir });
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  const theirs = readFileSync(path);
  const ours = await run(source, { dialect: 'linux', cover: true });
  expect(theirs.equals(ours.trace!.bytes())).toBe(true);

  const images = allInMemory(await prepareGuest(source, [], { dialect: 'linux', kcov: 'device' }));
  const { kernel, initrd, append } = images;
  const machine = new Machine({ kernel, initrd, append, memory: 2 ** 28 });
  const recording = machine.recordTrace({ test: 'linux-kcov', dialect: 'linux' });
  expect(() => machine.onKcov(() => {})).toThrow('is being recorded');
  while (machine.run(20_000_000).kind === 'budget');
  expect(theirs.equals(recording.finish())).toBe(true);
  expect(recording.finish()).toBe(recording.finish());

  const trace = readTrace(recording.finish());
  const records = [...trace.records()];
  expect(records.length).toBe(trace.count);
  expect(new Set(records.map(({ pc }) => pc)).size).toBe(trace.pcs.length);
  const image = new Image(new Uint8Array(kernel));
  for (const [format, suffix] of [
    ['lcov', 'info'],
    ['json', 'json'],
    ['cobertura', 'xml'],
  ] as const) {
    const file = join(dir, `report.${suffix}`);
    const exported = kcovbox(['cov', 'export', '-k', images.kernelPath, '-o', file, path], { cwd: dir });
    expect(exported).toMatchObject({ status: 0 });
    const report = Buffer.from(measure(trace, image).export(format)).toString();
    expect(report).toBe(readFileSync(file, 'utf8'));
  }
  expect(Buffer.from(ours.coverage().export('html', ours.exportOptions)).toString()).toContain('sys_read');
  expect(() => ours.coverage().export('nosuch' as 'html')).toThrow(
    /^Coverage\.export: format is "nosuch", expected one of kcov, raw, /,
  );
});

test('a signal ends a run that waits for input, and its source', async () => {
  const timed = new AbortController();
  let closed = false;
  const silent: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        timed.abort(new Error('enough'));
        return new Promise<never>(() => {});
      },
      return: async () => {
        closed = true;
        return { done: true, value: undefined };
      },
    }),
  };
  await expect(run(program, { input: silent, signal: timed.signal })).rejects.toThrow('enough');
  expect(closed).toBe(true);
  const fails: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no more')) }),
  };
  const { signal } = new AbortController();
  await expect(run(program, { input: fails, signal })).rejects.toThrow('no more');
  await expect(run(program, { input: Readable.from([3]) })).rejects.toThrow(
    'a chunk of the input is neither a Uint8Array nor text',
  );
});

test('a signal destroys a stream that is the input', async () => {
  const spin = join(dir, 'spin-stream.c');
  writeFileSync(spin, 'int main(void) { for (;;); }\n');
  for (const [path, delay] of [
    [program, 800],
    [spin, 800],
    [spin, 0],
  ] as const) {
    const timed = new AbortController();
    const input = new PassThrough();
    setTimeout(() => timed.abort(new Error('enough')), delay);
    await expect(run(path, { input, signal: timed.signal })).rejects.toThrow('enough');
    expect(input.destroyed).toBe(true);
  }
});

test('chunks of text are the same run as bytes', async () => {
  const text = Readable.from([
    'a line of input\n',
    Buffer.from('a line of input\n'),
    'a line of input\n'.repeat(5),
  ]);
  expect((await run(program, { input: text })).outcome).toEqual(
    (await run(program, { input: LINES })).outcome,
  );
});

test('what goes wrong is one error of one kind, and nothing else', async () => {
  const before = process.listenerCount('SIGINT') + process.listenerCount('exit');
  const kindOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'nothing',
      (error: unknown) => (error instanceof KcovboxError ? error.kind : String(error)),
    );
  writeFileSync(join(dir, 'bad.c'), 'int main(void) { return x; }\n');
  expect(await kindOf(compile(join(dir, 'bad.c')))).toBe('compile');
  expect(await kindOf(compile(join(dir, 'none.c')))).toBe('input');
  await expect(compile('/dev/zero')).rejects.toThrow('program /dev/zero is a device, not a file');
  expect(await kindOf(run(join(dir, 'none.c')))).toBe('input');
  expect(await kindOf(run(program, { conf: 'solaris' }))).toBe('input');
  expect(await kindOf(run(program, { conf: 'linux+none' }))).toBe('toolchain');
  expect(await kindOf(run(program, { memory: 5 }))).toBe('input');
  expect(await kindOf(run(program, { harts: 9 }))).toBe('input');
  expect(await kindOf(run(program, { cpu: 'z80' }))).toBe('machine');
  expect(await kindOf(replay(new Uint8Array(10)))).toBe('input');
  expect(await kindOf(run(program, { signal: AbortSignal.abort() }))).toMatch('AbortError');
  const timed = new AbortController();
  const spin = join(dir, 'spin.c');
  writeFileSync(spin, 'int main(void) { for (;;); }\n');
  setTimeout(() => timed.abort(new Error('enough')), 300);
  expect(await kindOf(run(spin, { signal: timed.signal }))).toBe('Error: enough');
  expect(process.listenerCount('SIGINT') + process.listenerCount('exit')).toBe(before);
});
