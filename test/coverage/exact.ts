/**
 * Counts of retired instructions by both engines, in lockstep: what `--exact` reports must not
 * depend on the engine.
 */
import { readFileSync } from 'node:fs';
import { codeWindow, Elf, Program } from '../../coverage/index.ts';
import { LockstepMachine } from '../../emulator/machine/engine-pair.ts';
import { buildKernel, buildProgram, type Dialect } from '../../toolchain/index.ts';
import { initrd } from '../kernel/boot.ts';

export interface ExactRun {
  readonly dialect: Dialect;
  readonly harts: number;
  readonly args?: string;
}

export interface CountsOfBoth {
  /** Instructions of the kernel that ran at least once, by the interpreter. */
  readonly ran: number;
  /** `address: interpreter, jit` where they differ. */
  readonly differences: string[];
  readonly console: string;
}

/**
 * Runs a program of guest-programs/ in lockstep, and compares the counts of every instruction of
 * the kernel.
 */
export async function exactOf(
  source: string,
  { dialect, harts, args = '' }: ExactRun,
): Promise<CountsOfBoth> {
  const { path } = await buildKernel(dialect);
  const bytes = readFileSync(path);
  const built = await buildProgram(source, { dialect });
  const elf = new Elf(bytes, path);
  const retired = codeWindow(elf);
  let console = '';
  const machine = LockstepMachine.create({
    kernel: { name: 'kernel', bytes },
    initrd: { name: 'initrd', bytes: initrd({ 'bin/t': readFileSync(built.path) }) },
    append: `init=/bin/t -- ${args}`,
    ramBytes: 128 << 20,
    harts,
    retired,
    onConsole: byte => {
      console += String.fromCharCode(byte);
    },
  });
  machine.run(1_000_000_000);
  return {
    ...differencesOf(
      new Program(elf),
      retired.low,
      machine.retired!.read(),
      machine.reference.retired!.read(),
    ),
    console,
  };
}

/** Compares two counts by half-word from `low` at every instruction of a function. */
export function differencesOf(
  { flow }: Program,
  low: bigint,
  jit: BigUint64Array,
  interp: BigUint64Array,
): Omit<CountsOfBoth, 'console'> {
  const differences: string[] = [];
  let ran = 0;
  for (const range of flow.ranges)
    for (const addr of flow.instructions(range)) {
      const i = Number(BigInt.asUintN(64, BigInt(addr)) - low) / 2;
      if (interp[i] === undefined) continue;
      if (interp[i] > 0n) ran++;
      if (jit[i] !== interp[i]) differences.push(`${addr.toString(16)}: ${interp[i]}, ${jit[i]}`);
    }
  return { ran, differences };
}
