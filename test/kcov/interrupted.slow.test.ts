// Interrupts never leak into a trace: while a program traces the same calls over and over, the
// timer's wire is raised at every single kernel instruction of those calls; the program sees the
// same records in every round.

import { describe, expect, it } from 'vitest';
import { cause, type MachineOptions } from '../../emulator/index.ts';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { type Booted, boot, initrd, kernel, program } from '../kernel/boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: needs clang-19 and libc6-dev-riscv64-cross');

const KERNEL = 0xffffffff00000000n;
/** More single steps than one round of the program's calls takes. */
const ROUND = 40_000;
/** Injections after which the pcs that are still missing are an error. */
const MOST = 400_000;

async function start(dialect: Dialect, options: Partial<MachineOptions>, args: string): Promise<Booted> {
  const bytes = await program(`kcov-conformance/${dialect}-interrupted.c`, dialect);
  const archive = initrd({ 'bin/t': bytes });
  return boot(await kernel(dialect), archive, `init=/bin/t -- ${args}`, { ramBytes: 64 << 20, ...options });
}

const pcOf = ({ machine }: Booted): bigint => machine.harts[0]!.state.pc;

/** Kernel pcs of one round without any interrupt. */
function steps(run: Booted): Set<bigint> {
  const seen = new Set<bigint>();
  for (let i = 0; i < ROUND; i++) {
    run.machine.run(1);
    const pc = pcOf(run);
    if (pc >= KERNEL) seen.add(pc);
  }
  return seen;
}

/** Small steps of a linear congruence, so that no period of the program can hide an instruction. */
function distances(): () => number {
  let state = 12345;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return 40 + ((state >> 8) % 1500);
  };
}

/** A wire that is up for two instructions: taken now or, where interrupts are off, not at all. */
function raise({ machine }: Booted): void {
  machine.harts[0]!.setLine(cause.STIP, true);
  machine.run(2);
  machine.harts[0]!.setLine(cause.STIP, false);
}

describe.skipIf(!ready).each([...DIALECTS])('%s', dialect => {
  it.each([
    ['device', 'interp', 'pc'],
    ['device', 'jit', 'pc'],
    ['device', 'jit', 'cmp'],
    ['off', 'interp', 'pc'],
    ['off', 'jit', 'cmp'],
  ] as const)(
    'records nothing of a timer at any instruction: kcov %s, %s, %s',
    async (kcov, engine, mode) => {
      const run = await start(dialect, { kcov, engine, eager: engine === 'jit' }, `1000000 ${mode}`);
      while (!run.text().includes('GO')) expect(run.machine.run(100_000).kind).toBe('budget');
      run.machine.run(50_000);
      const missing = steps(run);
      const all = missing.size;
      const next = distances();
      let injected = 0;
      for (; missing.size > 0 && injected < MOST; injected++) {
        if (run.machine.run(next()).kind !== 'budget') break;
        if (pcOf(run) < KERNEL) continue;
        missing.delete(pcOf(run));
        raise(run);
      }
      console.log(
        `${dialect} ${kcov} ${engine} ${mode}: ${all} pcs, ${missing.size} left after ${injected} injections`,
      );
      expect(run.text()).not.toContain('not ok');
      expect([...missing].map(pc => pc.toString(16))).toEqual([]);
      expect(all).toBeGreaterThan(300);
    },
  );
});
