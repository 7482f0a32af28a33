// The activations that are open on a hart of our kernel, from the innermost out: functions that
// will return, and functions that a trap interrupted.
//
// Frame pointers alone do not say it. Before its prologue and in its epilogue a function has no
// frame of its own, hooks never have one, and at the edges of kernel/trap/entry.S s0 is the
// register of whatever was interrupted; a program may hold anything there. So the innermost
// activation is unwound by its call frame information (DWARF 5 §6.4), the others by their frame
// pointers, and what a trap interrupted from the registers in its trap frame.

import { CallFrames, type Elf, pcOf } from '../coverage/record.ts';
import { cause, csrNamed, type Hart, layout, type Machine, readMemory } from '../emulator/index.ts';
import { atReturn, RA, type ReturnRegisters, S0, SP } from './epilogue.ts';

export interface CallFrame {
  /** Frame pointer of the function that will return, which names the activation. */
  readonly fp: bigint;
  readonly returns: bigint;
}

/** The known parts of a kernel's code. */
export interface KernelCode {
  /** kernel/trap/entry.S; undefined for a kernel that has another. */
  readonly trap: TrapCode | undefined;
  /** The hook that records a PC, in kernel/kcov/hooks.S: it records in front of its `ret`. */
  readonly hook: { readonly low: bigint; readonly high: bigint } | undefined;
  readonly unwinder: CallFrames;
}

/** Addresses in kernel/trap/entry.S. */
export interface TrapCode {
  /** The trap vector, up to `common`: s0 is that of the interrupted code. */
  readonly vector: bigint;
  /** Its part for traps of the kernel, whose second instruction makes room for the trap frame. */
  readonly fromKernel: bigint;
  readonly common: bigint;
  /** From here to `end`, the registers become those of the interrupted code again. */
  readonly restore: bigint;
  readonly end: bigint;
}

/** Registers that lead to the caller. */
interface Point extends ReturnRegisters {
  readonly pc: bigint;
}

/** Offsets in struct trapframe (kernel/include/asm.h). */
const TF_BYTES = 304n;
const TF = { ra: 0n, sp: 8n, s0: 56n, epc: 248n, status: 256n } as const;
const SSTATUS = csrNamed('sstatus').number;
const SEPC = csrNamed('sepc').number;
/** The trap came from S-mode (Priv, Supervisor Status Register). */
const SPP = 0x100n;
/** Of the instructions of entry.S, sret among them, and of a call. */
const INSN_BYTES = 4n;
const FRAMES_MAX = 256;
/** In entry.S and hooks.S. */
const RET = 0x8067;

/** The known parts of a kernel, by its labels and its call frame information. */
export const kernelCodeOf = (elf: Elf): KernelCode => ({
  trap: trapCodeOf(elf),
  hook: hookOf(elf),
  unwinder: new CallFrames(elf),
});

/** The labels of kernel/trap/entry.S; undefined for a kernel that has others. */
function trapCodeOf({ symbols }: Elf): TrapCode | undefined {
  const at = (name: string): bigint | undefined => {
    const found = symbols.named(name);
    return found.length === 1 ? pcOf(found[0]!.addr) : undefined;
  };
  const [vector, fromKernel, common] = [at('trap_vector'), at('trap_from_kernel'), at('trap_common')];
  const [restore, end] = [at('restore'), at('trap_return')];
  if (vector === undefined || fromKernel === undefined || common === undefined) return undefined;
  if (restore === undefined || end === undefined) return undefined;
  const isOurs = vector < fromKernel && fromKernel < common && common < restore && restore < end;
  return isOurs ? { vector, fromKernel, common, restore, end } : undefined;
}

function hookOf({ symbols }: Elf): KernelCode['hook'] {
  const [hook] = symbols.named('__sanitizer_cov_trace_pc');
  return hook && { low: pcOf(hook.addr), high: pcOf(hook.addr + hook.size) };
}

/** Undefined where they cannot be known. */
export function kernelFrames(
  machine: Machine,
  hart: Hart,
  { trap, hook, unwinder }: KernelCode,
): readonly CallFrame[] | undefined {
  const read = (va: bigint, bytes: number): Uint8Array | undefined => readMemory(machine, hart, va, bytes);
  const word = (at: bigint): bigint | undefined => {
    const bytes = read(at, 8);
    return bytes?.length === 8
      ? new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)
      : undefined;
  };
  const isVector = (pc: bigint): boolean => trap !== undefined && pc >= trap.vector && pc < trap.end;
  const insn = (at: bigint): number => Number((word(at) ?? 0n) & 0xffff_ffffn);
  const frames: CallFrame[] = [];
  /**
   * Where control leaves the caller of a leaf: behind the call; but a hook that has not recorded
   * yet was not called, as far as its records tell. A call is auipc and jalr, or jal.
   */
  const left = (pc: bigint, ra: bigint): bigint => {
    const isPending = hook && pc >= hook.low && pc < hook.high && insn(pc) !== RET;
    return isPending ? ra - INSN_BYTES : ra;
  };

  /** The innermost activation, and the frame pointer of its caller. */
  function caller({ pc, ra, sp, s0 }: Point): (CallFrame & { readonly above: bigint }) | undefined {
    const out = atReturn(pc, { ra, sp, s0 }, insn, word);
    if (out) return { fp: out.sp, returns: out.ra, above: out.s0 };
    const registers = new Map<number, bigint>([
      [RA, ra],
      [SP, sp],
      [S0, s0],
    ]);
    const up = unwinder.unwind(pc, registers, read);
    const above = up?.caller.get(S0);
    if (up && up.returns !== undefined && above !== undefined)
      return { fp: up.cfa, returns: up.returns, above };
    // A function without call frame information is a hook or another leaf: it has no frame.
    return up ? undefined : { fp: sp, returns: left(pc, ra), above: s0 };
  }

  /** Adds the activations at a point; false: they cannot be known. */
  function walk({ pc, ra, sp, s0 }: Point): boolean {
    const first = caller({ pc, ra, sp, s0 });
    if (!first) return false;
    let { above } = first;
    for (let frame: CallFrame = first; ; ) {
      if (frames.length >= FRAMES_MAX) return false;
      frames.push({ fp: frame.fp, returns: frame.returns });
      // The handler's frame pointer is the stack pointer at its call: the trap frame.
      if (isVector(frame.returns)) return interrupted(frame.fp);
      if (above === 0n) return true;
      if (above % 8n !== 0n) return false;
      const [returns, next] = [word(above - 8n), word(above - 16n)];
      if (returns === undefined || next === undefined) return false;
      frame = { fp: above, returns };
      // Assembly that calls C on a fresh stack may leave its own frame pointer there: it has no
      // caller.
      above = next === above ? 0n : next;
    }
  }

  /** Adds what the trap of this frame interrupted. */
  function interrupted(frame: bigint): boolean {
    const [status, pc, ra, sp, s0] = [TF.status, TF.epc, TF.ra, TF.sp, TF.s0].map(at => word(frame + at));
    if (status === undefined || pc === undefined) return false;
    if (ra === undefined || sp === undefined || s0 === undefined) return false;
    if ((status & SPP) === 0n) return true;
    frames.push({ fp: frame, returns: pc });
    return walk({ pc, ra, sp, s0 });
  }

  const { pc } = hart.state;
  const [ra, sp, s0] = [RA, SP, S0].map(n => hart.state.getX(n)) as [bigint, bigint, bigint];
  const csr = (number: number): bigint => hart.csr.peek(number) ?? 0n;
  /** By the registers of the hart and of the trap that began or ends. */
  const edge = (live: bigint): boolean => {
    if ((csr(SSTATUS) & SPP) === 0n) return true;
    frames.push({ fp: sp, returns: csr(SEPC) });
    return walk({ pc: csr(SEPC), ra, sp: live, s0 });
  };
  let isKnown: boolean;
  if (hart.state.get(layout.PRIV) === cause.U) isKnown = true;
  else if (!trap || !isVector(pc)) isKnown = walk({ pc, ra, sp, s0 });
  else if (pc < trap.common) isKnown = edge(pc > trap.fromKernel + INSN_BYTES ? sp + TF_BYTES : sp);
  // In between s0 is 0 for a program, and the trap frame of the kernel is being filled.
  else if (pc < trap.restore) isKnown = s0 === 0n;
  else isKnown = pc < trap.end - INSN_BYTES ? interrupted(sp) : edge(sp);
  return isKnown ? frames : undefined;
}
