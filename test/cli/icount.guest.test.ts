// run --icount and boot -icount: the number of instructions in a guest second, through the command
// and into its result.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { assemble, FINISH } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-icount-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Harts 1 and 2 spin as xv6's scheduler does; hart 0 spins until the clock shows 10 ms, then stops
 * the machine.
 */
const SPINNERS = `
    csrr t0, mhartid
    bnez t0, 2f
    li t1, 100000
  1: rdtime t0
    bltu t0, t1, 1b
    li a0, 0
    ${FINISH}
  2: addi s5, s5, 1
    j 2b`;

describe('the rate of time', () => {
  test('spinning harts share the instructions of a guest second', () => {
    writeFileSync(join(dir, 'spin.elf'), assemble(SPINNERS).bytes);
    const boot = (shift: number, budget: number) =>
      kcovbox(
        ['boot', '-bios', 'none', '-kernel', 'spin.elf', '-smp', '3', '-icount', `shift=${shift}`].concat([
          '--max-insns',
          String(budget),
        ]),
        { cwd: dir, input: '' },
      ).status;
    // 10 ms are 10^7 ns; the turn of another hart may lie between the last instruction of hart 0
    // and the end.
    for (const shift of [0, 3, 6, 10]) {
      const all = 1e7 / 2 ** shift;
      expect(boot(shift, Math.floor(all) - 1000), `shift ${shift}`).toBe(124);
      expect(boot(shift, Math.ceil(all) + 60_000), `shift ${shift}`).toBe(0);
    }
  }, 60_000);

  test('of a program is part of its description, result and recording', () => {
    writeFileSync(
      join(dir, 'spin.c'),
      `#include <stdio.h>
       #include <time.h>
       static long long ns(void) {
         struct timespec t;
         clock_gettime(CLOCK_MONOTONIC, &t);
         return t.tv_sec * 1000000000LL + t.tv_nsec;
       }
       int main(void) {
         long long end = ns() + 40000000;
         while (ns() < end) ;
         return 3;
       }`,
    );
    const ids = new Set<string>();
    const spent = [0, 3, 6].map(shift => {
      const more = shift === 3 ? ['--record', 'r.kcapsule'] : [];
      const words = [
        'run',
        '--smp',
        '3',
        '--icount',
        `${shift}`,
        '--result',
        'result.json',
        ...more,
        'spin.c',
      ];
      expect(kcovbox(words, { cwd: dir, input: '' })).toEqual({ status: 3, stdout: '', stderr: '' });
      const { runId, run, outcome } = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'));
      expect(run.machine.icountShift).toBe(shift);
      ids.add(runId);
      return outcome.instret as number;
    });
    expect(ids.size).toBe(3);
    // 40 ms of three harts at 1, 1/8 and 1/64 instructions per ns, and the boot, which hardly
    // depends on the clock.
    expect(spent[0]! - spent[1]!).toBeGreaterThan(40e6 / 3 / 2);
    expect(spent[0]!).toBeGreaterThan(spent[1]!);
    expect(spent[1]!).toBeGreaterThan(spent[2]!);
    const again = kcovbox(['replay', '--engine', 'interp', 'r.kcapsule'], { cwd: dir });
    expect(again.stderr).toContain('the same run');
    expect(again.status).toBe(3);
  }, 90_000);

  test.each(['11', '-1', 'auto', '0.5', ''])('--icount %j is refused', shift => {
    const ran = kcovbox(['run', `--icount=${shift}`, 'spin.c'], { cwd: dir });
    expect(ran.status).toBe(125);
    expect(ran.stderr).toMatch(/icount.*expected 0 to 10/);
  });
});
