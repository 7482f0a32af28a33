// Functions of the guest that compiled code executes itself instead of calling them: coverage hooks, probes, assertions. The machine
// injects them; the engine knows nothing of what they do.
//
// What must hold: an inlined call leaves the same registers, memory and instruction count as the real one, or makes the real one.
// The engine's share of the proof: the code at the function's address has exactly these words (compared when the calls are
// announced; a store to them drops what was compiled), and the address leads there (compared with the exec TLB at the entry of
// a region that has such calls; what changes a translation ends a region).

import type { CodeWriter, I32, I64, Local } from '../../wasm/module.ts';
import type { RamPlace } from './emit/memory.ts';
import type { Region } from './region/region.ts';

/** One function that may be executed inline. */
export interface InlineCall {
  /** Virtual address by which it is called. */
  readonly address: bigint;
  /** Physical address of its code in RAM, and all of its instructions of 32 bits that the inline form stands for. */
  readonly pa: number;
  readonly words: readonly number[];
  /** x registers that the inline form reads and those that it may write, as bits; the link register is not among them. */
  readonly reads: number;
  readonly writes: number;
  /** Most instructions that the inline form retires, the call itself not counted. */
  readonly cost: number;
  readonly family: InlineFamily;
}

/** Calls that share what a region knows about them. */
export interface InlineFamily {
  /** Can calls be inlined in this region? If not, they are calls like others. */
  accepts(region: Region): boolean;
  /** Begins the emission of one region. */
  begin(context: InlineContext): InlineEmitter;
}

/** What an emitter may use. */
export interface InlineContext {
  readonly c: CodeWriter;
  /** Registers x1 to x31 that the region uses, among them those that its calls read and write. */
  readonly x: readonly (Local<I64> | undefined)[];
  /** Instructions left; an inlined call subtracts what it retires. */
  readonly ic: Local<I32>;
  /** i32: not 0 when the region's calls lead to the code that was compared. A call is inlined only then. */
  readonly isVerified: Local<I32>;
  /** View of loads and stores. */
  readonly dataView: number;
  readonly ram: RamPlace;
  /** Counts the instructions from byte `from` up to byte `to` of the call's code as retired. */
  ran(call: InlineCall, from: number, to: number): void;
}

export interface InlineEmitter {
  /** At the region's entry, behind `isVerified`: finds out, without effects, what the calls will go by. No register is loaded yet. */
  enter(): void;
  /** Writes one call. */
  site(call: InlineCall, site: InlineSite): void;
  /** The region is written: releases locals. */
  release(): void;
}

export interface InlineSite {
  /** The return address. */
  readonly behind: bigint;
  /** Nothing was stored or called since the entry or the last call of this family, whatever way led here. */
  readonly isClean: boolean;
  /** Makes the real call; all locals are then as after one. */
  generic(): void;
}
