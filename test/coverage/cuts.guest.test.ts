/**
 * Runs that end anywhere: a budget or a signal cuts them in user code, in system calls, in
 * interrupts and at the edges of traps, where s0 is what the program or the interrupted code holds.
 * No verdict may be wrong there.
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../emulator/index.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from './support.ts';
import { kernelImage, truthOf } from './truth.ts';

const reason = missing('coverage of cut runs', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const SEED = seedFromEnvironment(0xc07);
/** cuts.slow.test.ts has ten times as many. */
const CUTS = Number(process.env['KCOVBOX_CUTS'] ?? 1);
const SOURCE = resolve(import.meta.dirname, 'fixtures/cuts.c');

/** Runs until a hart of the machine is at one of `places`, at most `limit` units. */
function runTo(machine: Machine, [low, high]: readonly [bigint, bigint], limit: number): void {
  for (let n = 0; n < limit; n++) {
    const { pc } = machine.harts[machine.scheduler.turn]!.state;
    if (pc >= low && pc < high) return;
    machine.run(1);
  }
}

describe.skipIf(reason)(`runs that are cut, seed ${seedText(SEED)}`, () => {
  it.each(['openbsd', 'netbsd', 'freebsd', 'linux'] as const)('%s', async dialect => {
    const { program } = await kernelImage(dialect);
    const at = (name: string) => BigInt.asUintN(64, BigInt(program.elf.symbols.named(name)[0]!.addr));
    const entry = [at('trap_vector'), at('trap_common')] as const;
    const exit = [at('restore'), at('trap_return')] as const;
    const random = new Random(SEED ^ dialect.length);
    let known = 0;
    for (let cut = 0; cut < 4 * CUTS; cut++) {
      const from = 1_700_000 + random.below(2_000_000);
      const further = random.below(60);
      const places = [entry, exit, undefined, undefined][cut % 4];
      const found = await truthOf(SOURCE, {
        dialect,
        drive: machine => {
          machine.run(from);
          if (places) runTo(machine, places, 50_000);
          machine.run(places ? further : 1 + random.below(5000));
        },
      });
      const where = `cut ${cut}, from ${from}`;
      expect(found.wrong, where).toEqual([]);
      expect(found.wrongCounts, where).toEqual([]);
      expect(found.inconsistent, where).toEqual([]);
      expect(found.ran, where).toBeGreaterThan(20);
      if (found.trace.header.flow === 'known') known++;
    }
    expect(known).toBeGreaterThan(4 * CUTS * 0.8);
  });
});
