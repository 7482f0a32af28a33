// Privileged programs on our machine and on QEMU. Apart from the search itself, which also runs in
// a browser.

import { qemuRunner } from '../oracle/qemu.ts';
import { buildPrivileged } from './image.ts';
import { type Configuration, runPrivileged } from './search.ts';
import type { PrivilegedProgram } from './step.ts';

/**
 * The same memory as on QEMU? Programs that do not end by themselves are not compared: 0
 * instructions.
 */
export function compareWithQemu(
  program: PrivilegedProgram,
  seed: number,
  configuration: Configuration,
): { readonly isDifferent: boolean; readonly instructions: number } {
  const { machine, instret, isOver } = runPrivileged(program, configuration, seed, false);
  if (!isOver) return { isDifferent: false, instructions: 0 };
  const bytes = buildPrivileged(program);
  const ours = machine.ram.data.subarray(0, bytes.length);
  const isDifferent = Buffer.compare(ours, qemuRunner.run({ bytes })) !== 0;
  return { isDifferent, instructions: instret };
}
