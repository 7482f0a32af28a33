// Steps of a selected hart, of functions without lines, and what counts as a call.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { type Hot, recordHot, removeHot } from './hot.ts';

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  let hot: Hot;
  beforeAll(() => {
    hot = recordHot();
  });
  afterAll(() => removeHot(hot));

  /** The lines that follow each command. */
  function answers(...commands: string[]): string[] {
    const words = ['debug', hot.capsule, ...commands.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: hot.dir });
    return stdout
      .split(/^\(kcovbox\) .*\n/m)
      .slice(1)
      .map(part => part.trimEnd());
  }
  const place = (text = ''): string => /^unit \d+, hart \d+/m.exec(text)?.[0] ?? text;
  const unit = (text = ''): number => Number(/^unit (\d+)/m.exec(text)?.[1]);

  test('a function that is one loop is called once, and stopped in once', () => {
    const [, first, second, when] = answers('break worker', 'continue', 'continue', 'when worker');
    expect(first).toContain(': worker at hot.c:');
    expect(second).toContain('this is the end of the run');
    expect(when).toMatch(/^it ran 1 time\n/);
  });

  test('a search that was cut says so', () => {
    const lines = answers('when hot')[0]!.split('\n');
    expect(lines[0]).toBe('it ran at least 100000 times, the first ones:');
    expect(lines).toHaveLength(21);
    const [switches] = answers('goto switch 3');
    expect(switches).toContain('kernel/proc/switch.c');
  });

  test('a search leaves the hart and the frame as they were', () => {
    const commands = ['break worker', 'continue', 'thread 0', 'up', 'when copy', 'frame', 'backtrace'];
    const [, , , up, , frame, calls] = answers(...commands);
    expect(frame).toBe(up);
    expect(frame).toMatch(/^unit \d+, hart 0/);
    expect(calls).toMatch(/^> 1/m);
  });

  test('a step is one of the selected hart, and has a way back', () => {
    const commands = ['break worker', 'continue', 'delete', 'thread 0', 'stepi', 'stepi', 'rstepi', 'stepi'];
    const [, met, , other, one, two, back, again] = answers(...commands);
    expect(place(met)).toMatch(/hart 1$/);
    for (const answer of [other, one, two, back]) expect(place(answer)).toMatch(/hart 0$/);
    // The turn of the other hart comes first.
    expect(unit(one)).toBeGreaterThan(unit(other) + 1);
    expect(unit(two)).toBe(unit(one) + 1);
    expect(place(again)).toBe(place(two));
    const lines = answers(
      'break worker',
      'continue',
      'delete',
      'thread 0',
      'next',
      'next',
      'thread 1',
      'next',
    );
    for (const line of [4, 5].map(i => lines[i]!)) expect(line).toMatch(/, hart 0: (main|hot) at/);
    expect(lines[7]).toMatch(/, hart 1: (worker|bump) at/);
  });

  test('a function without lines is left, to its caller or to its call', () => {
    const to = ['break copy', 'continue', 'break memcpy', 'continue'];
    const [, , , inside, out] = answers(...to, 'next');
    expect(inside).toMatch(/: memcpy at 0x/);
    expect(out).toMatch(/^memcpy has no lines: out to copy\nunit \d+, hart \d: copy at hot\.c/);
    const [, , , , deep, back] = answers(...to, 'stepi 3', 'delete', 'rnext').toSpliced(5, 1);
    expect(deep).toMatch(/: memcpy at 0x/);
    expect(back).toMatch(/^memcpy has no lines: out to copy\nunit \d+, hart \d: copy at hot\.c/);
    expect(unit(back)).toBeLessThan(unit(inside));
    // Without a caller that has lines: one instruction.
    const [first, next, rnext] = answers('stepi 3', 'next', 'rnext');
    expect(next).toMatch(/^\w+ has no lines: one instruction\n/);
    expect(unit(next)).toBe(unit(first) + 1);
    expect(place(rnext)).toBe(place(first));
  });

  test('a caller without lines is not passed', () => {
    const [, , first] = answers('break main', 'continue', 'delete', 'rnext 2').toSpliced(2, 1);
    expect(first).toMatch(/^(\w+) has no lines\nunit \d+, hart 0: \1 at 0x/);
    const last = answers('break copy', 'continue', 'finish', 'next', 'next', 'next').slice(3);
    expect(last.join('\n')).toMatch(/^(\w+) has no lines\nunit \d+, hart \d: \1 at 0x/m);
  });

  test('in front of a return the caller is known', () => {
    const [, , calls] = answers('break hot', 'continue', 'stepi 4', 'backtrace').slice(1);
    expect(calls).toMatch(/^> 0 {2}hot at .*\n {2}1 {2}main at /);
  });

  test('a number that does not fit is an error', () => {
    const [long, most] = answers('print 99999999999999999999999', 'print 0xffffffffffffffff');
    expect(long).toBe('99999999999999999999999 does not fit into 64 bits');
    expect(most).toBe('0xffffffffffffffff = 18446744073709551615');
  });
});
