// Runs privileged programs on several configurations of our machine, and shrinks the first that
// differs. It needs nothing of Node: it also runs in a browser.

import { cause } from '../../../emulator/hart/index.ts';
import { type EngineKind, Machine, MIB, stateHash } from '../../../emulator/index.ts';
import type { EngineTuning } from '../../../emulator/machine/options.ts';
import { Random, seedText } from '../random.ts';
import { buildPrivileged, DISK_SLOT, listPrivileged, RANDOM_SLOT } from './image.ts';
import { privilegedProgram } from './program.ts';
import type { PrivilegedProfile, PrivilegedProgram } from './step.ts';

/** How one side executes. */
export interface Configuration {
  readonly name: string;
  readonly engine: EngineKind;
  readonly tuning?: EngineTuning;
  /** Longest piece that is run at once; pieces are cut at random. */
  readonly piece: number;
  /** Most units to run. */
  readonly units?: number;
  /** Units between the links of a hash chain. */
  readonly runHash?: number;
  /** Called before the first instruction, and between all pieces. */
  readonly between?: (machine: Machine) => void;
}

export interface Outcome {
  readonly hash: string;
  readonly instret: number;
  /** Did the program end by itself, or with its budget? */
  readonly isOver: boolean;
  readonly machine: Machine;
}

/** Programs that loop forever end here. */
const UNITS = 2_000_000;
/** Lines that the harness drives: what no device of these programs drives. */
const LINES = [cause.MSIP, cause.SEIP, cause.MEIP];

/**
 * Runs to the end of the program or of `units`. With `interrupts`, lines change every so many
 * units, at the same units whatever the configuration.
 */
export function runPrivileged(
  program: PrivilegedProgram,
  { engine, tuning, piece, units: most = UNITS, runHash, between }: Configuration,
  seed: number,
  interrupts: boolean,
): Outcome {
  const kernel = { name: 'privileged.bin', bytes: buildPrivileged(program) };
  const machine = Machine.create({
    kernel,
    bios: 'none',
    kcov: 'off',
    engine,
    ramBytes: 2 * MIB,
    harts: program.harts,
    ...(!program.isPortable && {
      virtioLegacy: false,
      virtio: [
        { kind: 'blk', slot: DISK_SLOT, image: program.disk },
        { kind: 'rng', slot: RANDOM_SLOT },
      ],
      fwCfg: [{ name: 'opt/disk', bytes: program.disk }],
    }),
    // Some of the programs with several harts run with turns of random lengths.
    ...(program.harts > 1 && seed & 1 && { schedSeed: BigInt(seed) }),
    ...(tuning && { tuning }),
    ...(runHash !== undefined && { runHash }),
  });
  const cuts = new Random(seed ^ piece);
  const lines = new Random(seed);
  let nextLine = interrupts ? 1 + lines.below(300) : Infinity;
  let isOver = false;
  while (!isOver && machine.spent < most) {
    between?.(machine);
    const units = Math.min(1 + cuts.below(piece), nextLine - machine.spent, most - machine.spent);
    isOver = machine.run(units).kind !== 'budget';
    if (machine.spent < nextLine) continue;
    const hart = program.harts === 1 ? 0 : lines.below(program.harts);
    machine.harts[hart]!.setLine(1 << lines.pick(LINES), lines.oneIn(2));
    nextLine = machine.spent + 1 + (lines.oneIn(2) ? lines.below(40) : lines.below(2000));
  }
  return { hash: stateHash(machine), instret: machine.instret, isOver, machine };
}

export interface SearchResult {
  readonly programs: number;
  readonly instructions: number;
  readonly different: number;
  /** Shrinks and lists the first difference. */
  readonly report: (() => string) | undefined;
}

export interface Search {
  readonly profile: PrivilegedProfile;
  readonly seed: number;
  readonly programs: number;
  /**
   * Answers whether the program is executed unlike it should be, and the instructions that were
   * compared.
   */
  compare(
    program: PrivilegedProgram,
    seed: number,
  ): { readonly isDifferent: boolean; readonly instructions: number };
}

export function searchPrivileged({ profile, seed, programs, compare }: Search): SearchResult {
  let instructions = 0;
  let different = 0;
  let report: (() => string) | undefined;
  for (let i = 0; i < programs; i++) {
    const own = (seed + i) >>> 0;
    const program = privilegedProgram(new Random(own), profile);
    const result = compare(program, own);
    instructions += result.instructions;
    if (!result.isDifferent) continue;
    different++;
    report ??= () => {
      const small = shrinkPrivileged(program, p => compare(p, own).isDifferent);
      return `seed ${seedText(own)}\n${listPrivileged(small)}`;
    };
  }
  return { programs, instructions, different, report };
}

/**
 * The same program under several configurations: all hashes equal? Programs that run into UNITS are
 * compared, but not counted: they mostly repeat one trap. Where a configuration has its own limit,
 * all count.
 */
export function compareConfigurations(
  program: PrivilegedProgram,
  seed: number,
  configurations: readonly Configuration[],
): { readonly isDifferent: boolean; readonly instructions: number; readonly outcomes: readonly Outcome[] } {
  const outcomes = configurations.map(c => runPrivileged(program, c, seed, true));
  const { hash, instret, isOver } = outcomes[0]!;
  return {
    isDifferent: outcomes.some(other => other.hash !== hash),
    instructions: isOver || configurations[0]!.units !== undefined ? instret : 0,
    outcomes,
  };
}

/** Fewer rounds, fewer steps, shorter snippets, as long as it fails. */
export function shrinkPrivileged(
  program: PrivilegedProgram,
  fails: (candidate: PrivilegedProgram) => boolean,
): PrivilegedProgram {
  let best = program;
  const attempt = (candidate: PrivilegedProgram): void => {
    if (fails(candidate)) best = candidate;
  };
  for (const rounds of [1, 2, 4]) if (rounds < best.rounds) attempt({ ...best, rounds });
  for (let chunk = best.steps.length >>> 1; chunk >= 1; chunk >>>= 1) {
    for (let start = best.steps.length - chunk; start > -chunk; start -= chunk) {
      const from = Math.max(start, 0);
      attempt({ ...best, steps: [...best.steps.slice(0, from), ...best.steps.slice(from + chunk)] });
    }
  }
  return best;
}
