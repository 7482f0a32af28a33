// Going on from behind the boot, on machines of other programs than the one that booted: at random
// later points the state is that of a machine that booted itself. KCOVBOX_SEED.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type EngineKind, type LaterState, Machine, MIB, stateHash } from '../../emulator/index.ts';
import { imageOptions } from '../../host/machine.ts';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { initrd, kernel, program } from '../kernel/boot.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const SEED = seedFromEnvironment(0x1a7e);
const ENGINES: readonly EngineKind[] = ['jit', 'interp'];
const PROGRAMS = ['files', 'pipes', 'processes', 'calls', 'jobs'];
const POINTS = 12;
const INTERVAL = 10_000_000;

interface Kind {
  readonly dialect: Dialect;
  readonly harts: number;
  readonly engine: EngineKind;
}

async function machineOf({ dialect, harts, engine }: Kind, name: string, words: string): Promise<Machine> {
  const bytes = await program(`tests/${name}.c`);
  const images = {
    ...{ kernelPath: '', kernel: readFileSync(await kernel(dialect)), size: undefined, name, args: [] },
    ...{ append: 'quiet kcov=device tty=stream', program: bytes, initrd: initrd({ [`bin/${name}`]: bytes }) },
    tail: `init=/bin/${name} ${words}`,
  };
  return Machine.create({
    ...imageOptions(images),
    ...{ harts, engine, ramBytes: 64 * MIB, runHash: INTERVAL },
  });
}

/** The state behind the boot, as host/booted.ts keeps it: through JSON, as a difference. */
function stateBehindBoot(machine: Machine): LaterState {
  const before = machine.snapshot();
  machine.stopsAtFwCfg = true;
  expect(machine.run().kind).toBe('budget');
  expect(machine.stopsAtFwCfg).toBe(false);
  const { pages, observed, rest, ...now } = machine.snapshot();
  const changed = [...pages].filter(([page, bytes]) => before.pages.get(page) !== bytes);
  const copy = JSON.parse(JSON.stringify(rest)) as typeof rest;
  return { ...now, rest: copy, records: observed.records, pages: new Map(changed) };
}

describe.skipIf(!ready)('behind the boot', () => {
  it.each(DIALECTS)('%s: other programs go on as if they had booted', async dialect => {
    const random = new Random(SEED + DIALECTS.indexOf(dialect));
    const note = `seed ${seedText(SEED)}`;
    const harts = random.pick([1, 1, 2, 4]);
    const kept = stateBehindBoot(
      await machineOf({ dialect, harts, engine: random.pick(ENGINES) }, random.pick(PROGRAMS), 'env.A=1'),
    );
    const name = random.pick(PROGRAMS);
    const words = `env.B=${'x'.repeat(random.below(3000))} -- ${random.below(9)} "a b"`;
    const cold = await machineOf({ dialect, harts, engine: random.pick(ENGINES) }, name, words);
    const warm = await machineOf({ dialect, harts, engine: random.pick(ENGINES) }, name, words);
    warm.resume(kept);
    expect(cold.run(warm.spent)).toEqual({ kind: 'budget' });
    expect(stateHash(warm), note).toBe(stateHash(cold));
    for (let i = 0; i < POINTS; i++) {
      const units = 1 + random.below(1 << (4 + random.below(18)));
      const end = cold.run(units);
      expect(warm.run(units), note).toEqual(end);
      expect([warm.spent, warm.time, warm.kcovRecords], note).toEqual([
        cold.spent,
        cold.time,
        cold.kcovRecords,
      ]);
      expect(stateHash(warm), `${note}, unit ${cold.spent}`).toBe(stateHash(cold));
    }
    expect(warm.hasher!.result(), note).toEqual(cold.hasher!.result());
  });

  it('a state of another machine, or of none, is refused', async () => {
    const kind = { dialect: 'openbsd', harts: 1, engine: 'interp' } as const;
    const kept = stateBehindBoot(await machineOf(kind, 'pipes', ''));
    const machine = await machineOf(kind, 'pipes', '');
    const two = await machineOf({ ...kind, harts: 2 }, 'pipes', '');
    expect(() => two.resume(kept)).toThrow(/does not fit a machine of 2 harts/);
    const bad: [Partial<LaterState>, RegExp][] = [
      [{ pages: new Map([[1 << 20, new Uint8Array(4096)]]) }, /damaged: page 1048576/],
      [{ pages: new Map([[0.5, new Uint8Array(4096)]]) }, /damaged: page 0.5/],
      [{ pages: new Map([[3, new Uint8Array(8)]]) }, /damaged: page 3/],
      [{ harts: [kept.harts[0]!.slice(1)] }, /damaged: hart 0 has/],
      [{ rest: { ...kept.rest, spent: 0.5 } }, /damaged: 0.5 units/],
    ];
    for (const [change, message] of bad) {
      machine.reset();
      expect(() => machine.resume({ ...kept, ...change })).toThrow(message);
    }
  });
});
