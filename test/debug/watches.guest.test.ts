// Watches of a variable that one instruction after the other stores to.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const PROGRAM = `volatile long sink;
__attribute__((noinline)) void set(long a, long b) {
    sink = a;
    sink = b;
}
int main(void) {
    set(3, 4);
    set(5, 6);
    return 0;
}
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-watches-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  beforeAll(() => {
    writeFileSync(join(dir, 'set.c'), PROGRAM);
    const ran = kcovbox(['run', '--cflags=-O2', '--record', 's.kcapsule', 'set.c'], { cwd: dir });
    if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
  });
  /** The values of the watch at each stop. */
  const changes = (...commands: string[]): string[] => {
    const words = ['debug', 's.kcapsule', ...commands.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: dir });
    const found = stdout.matchAll(/before: (\d+)\n {2}after: {2}(\d+)/g);
    return [...found].map(([, before, after]) => `${before} ${after}`);
  };

  test('two stores that follow each other are two changes, in both directions', () => {
    const to = ['break main', 'continue', 'delete', 'watch sink'];
    const all = ['0 3', '3 4', '4 5', '5 6'];
    expect(changes(...to, ...all.map(() => 'continue'))).toEqual(all);
    expect(changes(...to, 'goto end', ...all.map(() => 'back'))).toEqual(all.toReversed());
    expect(changes(...to, 'continue', 'continue', 'back', 'continue')).toEqual(['0 3', '3 4', '3 4', '3 4']);
  });

  test('a store of the instruction where the run stands counts', () => {
    expect(changes('break set.c:4', 'continue', 'watch sink', 'continue')).toEqual(['3 4']);
  });

  test('a step passes watches, as docs/debugging.md shows', () => {
    const to = ['break main', 'continue', 'delete', 'watch sink'];
    expect(changes(...to, 'next', 'next', 'goto end', 'rnext')).toEqual([]);
  });
});
