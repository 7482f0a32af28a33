// Steps in loops and recursive calls whose rounds all come to the line that the step begins in.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

/** All statements of the loop are of one line, but once in 32,768 rounds. */
const SEARCH = `volatile long sink;
__attribute__((noinline)) void found(long i) { sink = i; }
__attribute__((noinline)) long search(long n) {
    long sum = 0;
    for (long i = 1; i < n; i++) {
        sum += i * i;
        sum ^= sum >> 3;
        if ((i & 0x7fff) == 0)
            found(i);
    }
    return sum;
}
int main(void) {
    sink = search(0x10001);
    return 0;
}
`;

/** Each return of the inner call leads to the same line of the outer one. */
const RECURSIVE = `volatile long sink;
__attribute__((noinline)) long down(long n) {
    if (n > 0)
        n += down(n - 1);
    return sink = n;
}
int main(void) {
    sink = down(3);
    return 0;
}
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-loops-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function record(name: string, source: string): string {
    writeFileSync(join(dir, `${name}.c`), source);
    const capsule = `${name}.kcapsule`;
    const ran = kcovbox(['run', '--record', capsule, `${name}.c`], { cwd: dir });
    if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
    return capsule;
  }
  const answers = (capsule: string, ...commands: string[]): string[] => {
    const words = ['debug', capsule, ...commands.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: dir, timeout: 60_000 });
    return stdout.split(/^\(kcovbox\) .*\n/m).slice(1);
  };
  const lineOf = (text = ''): string => /: (\w+ at [\w.]+:\d+)$/m.exec(text)?.[1] ?? text;

  test('the rounds of a loop of one line are one step, in both directions', () => {
    const capsule = record('search', SEARCH);
    const commands = [
      'break found',
      'continue',
      'delete',
      'finish',
      'step',
      'step',
      'step',
      'rstep',
      'rstep',
    ];
    const places = answers(capsule, ...commands)
      .slice(4)
      .map(lineOf);
    expect(places).toEqual([
      'search at search.c:8',
      'search at search.c:9',
      'found at search.c:2',
      'search at search.c:9',
      'search at search.c:8',
    ]);
    const back = ['break found', 'continue', 'continue', 'delete', 'rstep', 'rstep', 'rstep'];
    expect(
      answers(capsule, ...back)
        .slice(4)
        .map(lineOf),
    ).toEqual(['search at search.c:9', 'search at search.c:8', 'found at search.c:2']);
  });

  test('a step back looks at the last of the many places before it', () => {
    const before = Date.now();
    answers(record('end', RECURSIVE), 'goto end', 'rstep 10');
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  test('next behind a recursive call stops in the same line of the outer one', () => {
    const way = ['backtrace', 'next', 'backtrace', 'next', 'backtrace'];
    const all = answers(record('down', RECURSIVE), 'break down.c:5', 'continue', 'delete', ...way);
    const calls = [3, 5, 7].map(i => all[i] ?? '');
    expect(calls.map(text => text.match(/ down at/g)?.length)).toEqual([4, 3, 2]);
    for (const text of calls) expect(text).toContain('> 0  down at down.c:5\n');
  });
});
