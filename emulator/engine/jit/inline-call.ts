// Functions of the guest that compiled code executes itself instead of calling them: coverage
// hooks, probes, assertions. The machine injects them; the engine does not know their purpose.
// Contract: an inlined call leaves the same registers, memory and instruction count as the real
// one, or makes the real one. The engine guarantees that the code at the function's address has
// exactly these words (compared when the calls are announced; a store to them drops the compiled
// code), and that the address leads there (compared with the exec TLB at the entry of a region that
// has such calls; a change of a translation ends the region).

import type { Insn } from '../../isa/index.ts';
import type { CodeWriter, I32, I64, Local, ValType } from '../../wasm/module.ts';
import type { RamPlace } from './emit/memory.ts';

/** One function that may be executed inline. */
export interface InlineCall {
  /** Virtual address by which it is called. */
  readonly address: bigint;
  /**
   * Physical address of its code in RAM, and all of its 32-bit instructions that the inline form
   * replaces.
   */
  readonly pa: number;
  readonly words: readonly number[];
  /**
   * x registers that the inline form reads and those that it may write, as bits; the link register
   * is not among them.
   */
  readonly reads: number;
  readonly writes: number;
  /** Maximum number of instructions that the inline form retires, not counting the call itself. */
  readonly cost: number;
  /**
   * True while the code, as the running hart would execute it now, asks the host, as a store to a
   * device does. That takes as long as thousands of instructions.
   */
  asksHost?(): boolean;
  readonly family: InlineFamily;
  /**
   * A function in WebAssembly that compiled code may call in place of the call's code; the same for
   * equal places.
   */
  helper?(place: HelperPlace): InlineHelper;
  /**
   * Writes a call of the helper where all registers are in the window, as at the first instruction
   * of the call's code. Pushes how many instructions were retired, at most `cost`, up to the return
   * to ra; 0 = nothing was done.
   */
  callHelper?(c: CodeWriter, helper: number): void;
}

export interface HelperPlace {
  readonly memory: WebAssembly.Memory;
  readonly ram: RamPlace;
  /** View of loads and stores. */
  readonly dataView: number;
  /**
   * Address of SCRATCH_BYTES of linear memory that helpers of this view may use. All bits are set
   * when memory has other contents than the running guest left there.
   */
  readonly scratch: number;
}

export const SCRATCH_BYTES = 128;

/** A function of a module of the machine's own. */
export interface InlineHelper {
  readonly params: readonly ValType[];
  readonly results: readonly ValType[];
  readonly call: unknown;
}

export type HostCall = (a: number, b: number, c: number) => void;

/** Calls that share one set of facts in a region. */
export interface InlineFamily {
  /**
   * True if calls can be inlined in a region of these instructions. If not, they are ordinary
   * calls.
   */
  accepts(insns: Iterable<Insn>): boolean;
  /**
   * A function of the host that calls may use: three numbers of 32 bits. It neither reads registers
   * or time nor changes translations, code or the quantum.
   */
  readonly host?: HostCall | undefined;
  /** Begins the emission of one region. */
  begin(context: InlineContext): InlineEmitter;
}

/** The interface for emitters. */
export interface InlineContext {
  readonly c: CodeWriter;
  /** Registers x1 to x31 that the region uses, among them those that its calls read and write. */
  readonly x: readonly (Local<I64> | undefined)[];
  /** Instructions left; an inlined call subtracts the number it retires. */
  readonly ic: Local<I32>;
  /** i32: not 0 if the region's calls lead to the compared code. A call is inlined only then. */
  readonly isVerified: Local<I32>;
  /** Index of the family's function `host`, if it has one. */
  readonly host: number | undefined;
  /** Index of a call's `helper` for this view, if it has one. */
  helperOf(call: InlineCall): number | undefined;
  /** True if code is to be short rather than quick. */
  readonly isWarm: boolean;
  /** True if `ran` counts. */
  readonly isCounted: boolean;
  /** View of loads and stores. */
  readonly dataView: number;
  readonly ram: RamPlace;
  /** Counts the instructions from byte `from` up to byte `to` of the call's code as retired. */
  ran(call: InlineCall, from: number, to: number): void;
}

export interface InlineEmitter {
  /**
   * Emitted at the region's entry, after `isVerified`: finds the facts on which the calls depend,
   * without side effects. No register is loaded yet.
   */
  enter(): void;
  /** Writes one call. */
  site(call: InlineCall, site: InlineSite): void;
  /** Emitted at each exit of the region: stores what the calls have kept in locals. */
  leave(): void;
  /** Called after the region is written: releases locals. */
  release(): void;
}

export interface InlineSite {
  /** The return address. */
  readonly behind: bigint;
  /** No path to here has a store or a call since the entry or the last call of this family. */
  readonly isClean: boolean;
  /** Makes the real call; all locals are then as after one. */
  generic(): void;
}
