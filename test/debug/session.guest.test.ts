// `kcovbox debug` as a user meets it: the moments, both directions, and bad input.
// readme.guest.test.ts repeats the session of docs/debugging.md.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { type Recorded, recordOverrun, recordSum, removeOverrun } from './overrun.ts';

/** Units and addresses change with the kernel and the compiler. */
const masked = (text: string): string => text.replace(/\d{5,}/g, 'N').replace(/0x[0-9a-f]+/g, '0xN');

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  let recorded: Recorded;
  beforeAll(() => {
    recorded = recordOverrun(undefined);
  });
  afterAll(() => removeOverrun(recorded));

  const debug = (...commands: string[]) =>
    kcovbox(['debug', recorded.capsule, ...commands.flatMap(command => ['-x', command])], {
      cwd: recorded.dir,
    });
  /** The lines that follow each command. */
  const answers = (text: string): string[] =>
    text
      .split(/^\(kcovbox\) .*\n/m)
      .slice(1)
      .map(part => part.trimEnd());

  test('who wrote this, and when did it run', () => {
    const { stdout } = debug(
      'goto end',
      'last-write block->node.value',
      'when greet',
      'when overrun.c:24',
      'info kcov',
    );
    const [, write, greet, line] = answers(stdout);
    expect(masked(write!)).toMatch(/^unit N, hart 0: main at overrun.c:4\d\n {4}block->node.value = 1;$/);
    expect(masked(greet!)).toMatch(/^it ran 1 time\n {2}unit N, hart 0: greet at/);
    expect(line).toContain('it ran');
  });

  test('at the first instruction of a function its frame is still to be made', () => {
    const { dir } = recorded;
    recordSum(dir);
    const atEntry = ['rfinish', 'stepi', 'locals', 'print n', 'print &all', 'watch n', 'last-write n'];
    const commands = ['break sum', 'continue', 'locals', ...atEntry, 'up', 'locals'];
    const { stdout } = kcovbox(['debug', 'sum.kcapsule', ...commands.flatMap(one => ['-x', one])], {
      cwd: dir,
    });
    const [, , behind, , entry, before, value, address, watch, write, , caller] = answers(stdout);
    expect(entry).toMatch(/: sum at sum\.c:4\n/);
    expect(behind).toMatch(/^n = 5\n/);
    expect(before).toBe('n = <not yet stored>\nall = <not yet stored>');
    for (const answer of [value, watch, write])
      expect(answer).toBe('n is not yet stored here: the function is at its first instructions');
    expect(address).toMatch(/^all is not yet stored here/);
    // The caller's frame is there.
    expect(caller).toBe('unused = 7');
    // Arguments in registers are there at once.
    const [, , start] = answers(debug('break main', 'continue', 'rfinish', 'stepi', 'locals').stdout).slice(
      2,
    );
    expect(start).toMatch(/^argc = 1\n/);
  });

  test('each motion has a way back', () => {
    const { stdout, status } = debug(
      'break main',
      'continue',
      'next',
      'next',
      'next',
      'rnext',
      'rnext',
      'rnext',
      'stepi',
      'rstepi',
      'goto +5',
      'goto -5',
    );
    const [, main, one, two, three, two2, one2, main2, , back, , back2] = answers(stdout);
    const place = (text = ''): string => /^unit.*$/m.exec(text)?.[0] ?? '';
    expect([place(two2), place(one2), place(main2), place(back), place(back2)]).toEqual(
      [two, one, main, main, main].map(place),
    );
    expect(new Set([main, one, two, three].map(place)).size).toBe(4);
    expect(status).toBe(0);
  });

  test('moments by their number', () => {
    const { stdout, status } = debug('goto syscall 1', 'backtrace', 'goto switch 2', 'goto exception 1');
    const [syscall, , change, exception] = answers(stdout);
    expect(syscall).toMatch(/trap/);
    expect(change).toMatch(/kernel\/proc\/switch\.c/);
    expect(exception).toMatch(/trap/);
    expect(status).toBe(0);
  });

  test('a failed command is one line, the next ones run, and the status is 1', () => {
    const wrong: readonly (readonly [command: string, why: string])[] = [
      ['break nowhere', 'there is no code for "nowhere"'],
      ['print 1 +', 'a value is expected'],
      ['print *1', 'is not a pointer'],
      ['print *(long *)1', 'nothing is mapped at 0x1'],
      ['print 1 @ 2', 'cannot read the expression from "@ 2" on'],
      ['goto syscall 999999', 'the run has no syscall 999999'],
      ['goto nowhere', 'goto UNIT'],
      ['frame 99', 'there is no frame 99'],
      ['watch 5', 'it has no address'],
      ['frob', 'there is no command frob'],
      ['delete x', '"x" is not a number'],
    ];
    const { status, stdout, stderr } = debug(...wrong.map(([command]) => command));
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    for (const [i, answer] of answers(stdout).entries()) {
      expect(answer).toContain(wrong[i]![1]);
      expect(answer).not.toContain('    at '); // a stack trace
    }
    expect(debug('print (').status).toBe(1);
    const missingFile = kcovbox(['debug', 'no.kcapsule'], { cwd: recorded.dir });
    expect(missingFile).toMatchObject({ status: 125, stdout: '' });
  });

  test('a name is that of the file in which the frame is', () => {
    const source = 'int sched_lock = 7;\nint main(void)\n{\n    return sched_lock;\n}\n';
    writeFileSync(join(recorded.dir, 'names.c'), source);
    const capsule = join(recorded.dir, 'names.kcapsule');
    expect(kcovbox(['run', '--record', capsule, 'names.c'], { cwd: recorded.dir }).status).toBe(7);
    const commands = ['break main', 'continue', 'print sched_lock', 'goto end', 'print sched_lock'];
    const words = ['debug', capsule, ...commands.flatMap(command => ['-x', command])];
    const [, , own, , kernel] = answers(kcovbox(words, { cwd: recorded.dir }).stdout);
    expect(own).toBe('sched_lock = 7');
    expect(kernel).toMatch(/^sched_lock = \{/);
  });

  test('expressions', () => {
    const { stdout } = debug(
      'break main',
      'continue',
      'next',
      'next',
      'next',
      'next',
      'next',
      'print block->node.value + 2 * 3',
      'print (char)65',
      'print (char)200',
      'print (unsigned char)200',
      'print &block->node == &block->node',
      'print sizeof',
      'print ((struct node *)block)->value',
      'print -1 >> 1',
      'print block->node.next->value',
      'print block->text[0]',
      'print *block',
    );
    const [, , , , , , , sum, letter, high, unsigned, same, wrong, cast, shift, deep, zero, whole] =
      answers(stdout);
    expect(sum).toMatch(/= [67]$/);
    expect(letter).toContain("= 65 'A'");
    // A char has no sign on RISC-V.
    expect(high).toContain("= 200 '\\xc8'");
    expect(unsigned).toContain("= 200 '\\xc8'");
    expect(same).toMatch(/= 1$/);
    expect(wrong).toContain('there is no variable sizeof');
    expect(cast).toMatch(/= 0$/);
    expect(shift).toMatch(/= -1$/);
    expect(deep).toMatch(/= \d$/);
    expect(zero).toContain('= 0 ');
    expect(whole).toMatch(/^\*block = \{text = "", node = \{next = 0x[0-9a-f]+, value = \d\}\}$/);
  });
});
