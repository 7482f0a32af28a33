// `kcovbox why` as a user meets it: the example of docs/debugging.md, whose race is in one line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyFile } from '../../run/why/schema.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { COMMAND, isOneLine, kcovbox, ROOT } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const SEEDS = 100;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox why', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-why-'));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  beforeAll(() => {
    const built = kcovbox(['build', '-o', 'lost.elf', join(ROOT, 'examples', 'lost.c')], { cwd });
    if (built.status !== 0) throw new Error(built.stderr);
    const seedFails = (seed: number): boolean => {
      const options = ['--smp', '2', '--sched-seed', seed.toString(16), '--record', 'lost.kcapsule'];
      return kcovbox(['run', ...options, 'lost.elf'], { cwd }).status === 1;
    };
    // Between the load and the store of pay the compiler puts an instruction of its caller's loop.
    // A run that stops there is told apart no less, but it is not the one of the documents.
    const stopsInPay = (): boolean => {
      const { stdout } = kcovbox(['why', '--forks', '10', 'lost.kcapsule'], { cwd });
      const [, top] = /the run that fails, .*stops in front of\n {4}0 {2}(\w+) at/.exec(stdout)!;
      expect(['pay', 'teller']).toContain(top);
      return top === 'pay';
    };
    for (let seed = 1; !seedFails(seed) || !stopsInPay(); seed++)
      if (seed === SEEDS) throw new Error('no seed fails between the load and the store');
    writeFileSync(join(cwd, 'well.c'), 'int main(void) { return 0; }\n');
    kcovbox(['run', '--record', 'well.kcapsule', 'well.c'], { cwd });
  }, 600_000);

  test('names the line between the load and the store, and the other hart', () => {
    const { status, stdout, stderr } = kcovbox(
      ['why', '--source', join(ROOT, 'examples'), '-o', 'why.json', 'lost.kcapsule'],
      { cwd },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const answer = whyFile.parse(JSON.parse(readFileSync(join(cwd, 'why.json'), 'utf8')));
    expect(['decided', 'gradual']).toContain(answer.answer);
    expect(answer.failure).toBe('exit status 1');
    const { before, after, failing, fork } = answer.decision!;
    expect(after.unit).toBe(before.unit + 1);
    expect(before.fails / before.forks).toBeLessThan(0.5);
    expect(after.fails / after.forks).toBeGreaterThan(0.8);
    expect(failing).toMatchObject({ kind: 'turn', unit: before.unit, to: 1 - failing!.from });
    // The balance is in a register, and the store is the next access to it.
    const [top, ...callers] = failing!.stops;
    expect(top).toMatchObject({ function: 'pay', file: expect.stringMatching(/lost\.c$/) });
    expect(callers[0]!.function).toBe('teller');
    const source = readFileSync(join(ROOT, 'examples', 'lost.c'), 'utf8').split('\n');
    expect(source[top!.line - 1]).toContain('balance = before + amount');
    expect(fork!.unit).toBeGreaterThan(failing!.unit);

    expect(stdout).toContain(
      `became ${answer.answer === 'decided' ? 'inevitable' : 'likely'} at unit ${before.unit.toLocaleString('en-US')}\n`,
    );
    const block = /the run that fails, .*?(?=\n\n)/s.exec(stdout)![0];
    expect(block).toContain('balance = before + amount; /* the bug');
    expect(block).toMatch(/hart [01] stops in front of\n {4}0 {2}pay at .*lost\.c:\d+ \(0x[0-9a-f]+\)/);

    const page = readFileSync(join(ROOT, 'docs', 'debugging.md'), 'utf8');
    const shown = /```console\n\$ npx kcovbox why .*?\n(failure: .*?)```/s.exec(page)![1]!;
    const masked = (text: string): string => text.replace(/0x[0-9a-f]+|[\d,]*\d/g, 'N');
    const first = (text: string): string => masked(text).split('\n').slice(0, 2).join('\n');
    expect(first(shown)).toBe(first(stdout));
    // It stops at the same place, under the same callers.
    const stopped = (text: string): string =>
      masked(/stops in front of\n(.*?)\n {2}and hart/s.exec(text)![1]!);
    expect(stopped(shown)).toBe(stopped(stdout));
  });

  test('the same seed prints the same bytes, another one other forks', () => {
    const ask = (...more: string[]) =>
      kcovbox(['why', '--forks', '10', '-o', '-', ...more, 'lost.kcapsule'], { cwd });
    const one = ask();
    expect(one).toMatchObject({ status: 0, stderr: '' });
    expect(ask()).toEqual(one);
    expect(ask('--seed', '2').stdout).not.toBe(one.stdout);
  });

  test('other failures: a line of the console, a status', () => {
    const line = kcovbox(['why', '--forks', '5', '--console', 'balance 9', 'lost.kcapsule'], { cwd });
    expect(line).toMatchObject({ status: 0, stderr: '' });
    expect(line.stdout).toMatch(/^failure: a console line matches \/balance 9\/, at unit /);
    const always = kcovbox(['why', '--status', '0', 'well.kcapsule'], { cwd });
    expect(always.stdout).toMatch(/was inevitable from unit [\d,]+ on/);
  });

  test('a budget that is too small: what is known so far, and status 124', () => {
    const { status, stdout } = kcovbox(['why', '--budget', '50e6', 'lost.kcapsule'], { cwd });
    expect(status).toBe(124);
    expect(stdout).toContain('raise --budget');
  });

  test.each([
    [['well.kcapsule'], /ended with status 0 and no report of the kernel; say what failed with --console/],
    [['--status', '7', 'lost.kcapsule'], /the recorded run has another end: not exit status 7/],
    [['--console', 'x', '--status', '7', 'lost.kcapsule'], /give one of them/],
    [['--console', '(', 'lost.kcapsule'], /--console .*Unterminated group/],
    [['--forks', '2', 'lost.kcapsule'], /expected 5 to 100000/],
    [['--spread', '1.5', 'lost.kcapsule'], /expected 0 to/],
    [['nothing.kcapsule'], /nothing\.kcapsule/],
  ])('%j is refused with one line', (args, why) => {
    const { status, stdout, stderr } = kcovbox(['why', ...args], { cwd });
    expect({ status, stdout, isOne: isOneLine(stderr) }, stderr).toEqual({
      status: 125,
      stdout: '',
      isOne: true,
    });
    expect(stderr).toMatch(why);
  });

  test('Ctrl-C ends it, and leaves no half answer', async () => {
    const args = [COMMAND, 'why', '--forks', '100000', '-o', 'never.json', 'lost.kcapsule'];
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' });
    const ended = once(child, 'close');
    await new Promise(resolve => setTimeout(resolve, 3000));
    child.kill('SIGINT');
    const [status, signal] = (await ended) as [number | null, string | null];
    expect(signal === 'SIGINT' || status === 130).toBe(true);
    expect(existsSync(join(cwd, 'never.json'))).toBe(false);
  });
});
