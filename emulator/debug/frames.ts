// The calls that a hart is inside of, by frame pointers: guest code built with
// -fno-omit-frame-pointer keeps its return address at s0 - 8 and its caller's s0 at s0 - 16 (RISC-V
// psABI, "Frame Pointer Convention").

import type { Hart } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';
import { readMemory } from './guest-memory.ts';

export interface CallFrame {
  /** Frame pointer of the function that will return, which names the activation. */
  readonly fp: bigint;
  readonly returns: bigint;
}

/**
 * Frames from the innermost out, until one has no caller (a frame pointer of 0). Undefined when the
 * chain breaks off.
 */
export function callFrames(machine: Machine, hart: Hart, most = 256): CallFrame[] | undefined {
  const frames: CallFrame[] = [];
  for (let fp = hart.state.getX(8); fp !== 0n; ) {
    if (frames.length === most || fp % 8n !== 0n) return undefined;
    const bytes = readMemory(machine, hart, fp - 16n, 16);
    if (bytes?.length !== 16) return undefined;
    const view = new DataView(bytes.buffer);
    frames.push({ fp, returns: view.getBigUint64(8, true) });
    const above = view.getBigUint64(0, true);
    // Assembly that calls C on a fresh stack may leave its own frame pointer there: it has no
    // caller.
    fp = above === fp ? 0n : above;
  }
  return frames;
}
