// A bare-metal image that runs many random programs and leaves their final states in memory. Every
// engine and oracle runs the same bytes from RAM_BASE in M-mode; only memory is compared, so none
// needs a debugger.
//
// Per program: a block (initial state, overwritten by the final one), a data area, and the code
// between a prologue that fetches the last two registers and an epilogue that returns to the
// harness. mscratch always holds the block. A trap is logged in the block and the instruction
// skipped. After every round all registers go into a digest in the block, so that the comparison at
// the end is one of every round.

import { encode, type Operands } from '../../../emulator/isa/codec.ts';
import { csrNamed } from '../../../emulator/isa/csr.ts';
import type { Mnemonic } from '../../../emulator/isa/table.ts';
import { assemble, type Program } from './program.ts';

export const RAM_BASE = 0x8000_0000n;

// Block layout, bytes.
export const BLOCK_F = 256;
export const BLOCK_FCSR = 512;
const ENTRY = 520;
const EXIT = 528;
const ROUNDS = 536;
const NEXT = 544;
export const BLOCK_TRAPS = 552;
const SCRATCH = 560;
export const BLOCK_LOG = 576;
export const LOG_ENTRIES = 16;
export const BLOCK_DIGEST = BLOCK_LOG + 32 * LOG_ENTRIES;
const BLOCK_BYTES = 1152;
/** Data area, with room for an access that begins at its last byte. */
export const DATA_BYTES = 4096;
const DATA_ROOM = DATA_BYTES + 64;

/**
 * Harness bytes before the first program; the first doubleword after the code holds the first
 * block's address.
 */
const HARNESS_BYTES = 2048;
const HEAD = 2040;
const TRAP_OFFSET = 1536;
/** The digest is multiplied by this odd number before each register is added. */
const DIGEST_FACTOR = 0x1003;

/** A handful of instructions with labels. */
class Assembler {
  readonly words: number[] = [];
  readonly labels = new Map<string, number>();
  readonly #fixups: { at: number; name: Mnemonic; operands: Operands; label: string }[] = [];

  put(name: Mnemonic, operands: Operands = {}): void {
    this.words.push(encode(name, operands));
  }

  label(name: string): void {
    this.labels.set(name, this.words.length * 4);
  }

  to(label: string, name: Mnemonic, operands: Operands = {}): void {
    this.#fixups.push({ at: this.words.length, name, operands, label });
    this.words.push(0);
  }

  finish(): void {
    for (const { at, name, operands, label } of this.#fixups) {
      const imm = this.labels.get(label)! - at * 4;
      this.words[at] = encode(name, { ...operands, imm });
    }
  }
}

const csr = (name: string): number => csrNamed(name).number;
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_unused, index) => first + index);

/**
 * All registers, of which x1, x30, x31 and fcsr are in the block already, into the block's digest.
 */
function digest(a: Assembler): void {
  const [sum, factor, value] = [1, 30, 29];
  const add = (rs2: number): void => {
    a.put('mul', { rd: sum, rs1: sum, rs2: factor });
    a.put('add', { rd: sum, rs1: sum, rs2 });
  };
  const addStored = (offset: number): void => {
    a.put('ld', { rd: value, rs1: 31, imm: offset });
    add(value);
  };
  a.put('ld', { rd: sum, rs1: 31, imm: BLOCK_DIGEST });
  a.put('lui', { rd: factor, imm: DIGEST_FACTOR & ~0xfff });
  a.put('addi', { rd: factor, rs1: factor, imm: DIGEST_FACTOR & 0xfff });
  for (const n of range(2, 29)) add(n);
  for (const n of range(0, 31)) {
    a.put('fmv.x.d', { rd: value, rs1: n });
    add(value);
  }
  for (const offset of [8, 30 * 8, 31 * 8, BLOCK_FCSR]) addStored(offset);
  a.put('sd', { rs2: sum, rs1: 31, imm: BLOCK_DIGEST });
}

/** Start, the loop over programs, and the end of the run. */
function harness(): Assembler {
  const a = new Assembler();
  // x31 is the block from here on.
  a.put('auipc', { rd: 5 });
  a.put('addi', { rd: 6, rs1: 5, imm: TRAP_OFFSET });
  a.put('csrrw', { rs1: 6, imm: csr('mtvec') });
  a.put('lui', { rd: 6, imm: 0x6000 });
  a.put('csrrs', { rs1: 6, imm: csr('mstatus') }); // FS = Dirty
  a.put('ld', { rd: 31, rs1: 5, imm: HEAD });
  a.label('next');
  a.to('finish', 'beq', { rs1: 31 });
  a.put('csrrw', { rs1: 31, imm: csr('mscratch') });
  a.put('ld', { rd: 1, rs1: 31, imm: BLOCK_FCSR });
  a.put('csrrw', { rs1: 1, imm: csr('fcsr') });
  for (const n of range(0, 31)) a.put('fld', { rd: n, rs1: 31, imm: BLOCK_F + n * 8 });
  for (const n of range(2, 30)) a.put('ld', { rd: n, rs1: 31, imm: n * 8 });
  a.put('ld', { rd: 1, rs1: 31, imm: ENTRY });
  a.put('jalr', { rs1: 1 });
  a.label('exit');
  a.put('csrrs', { rd: 1, imm: csr('mscratch') });
  a.put('sd', { rs2: 1, rs1: 31, imm: 31 * 8 });
  a.put('csrrw', { rs1: 31, imm: csr('mscratch') }); // from here on a trap can be logged again
  for (const n of range(2, 30)) a.put('sd', { rs2: n, rs1: 31, imm: n * 8 });
  a.put('lui', { rd: 1, imm: 0x6000 });
  a.put('csrrs', { rs1: 1, imm: csr('mstatus') }); // the program may have turned FS off
  for (const n of range(0, 31)) a.put('fsd', { rs2: n, rs1: 31, imm: BLOCK_F + n * 8 });
  a.put('csrrs', { rd: 1, imm: csr('fcsr') });
  a.put('sd', { rs2: 1, rs1: 31, imm: BLOCK_FCSR });
  digest(a);
  a.put('ld', { rd: 1, rs1: 31, imm: ROUNDS });
  a.put('addi', { rd: 1, rs1: 1, imm: -1 });
  a.put('sd', { rs2: 1, rs1: 31, imm: ROUNDS });
  a.to('next', 'bne', { rs1: 1 });
  a.put('ld', { rd: 31, rs1: 31, imm: NEXT });
  a.to('next', 'jal');
  a.label('finish');
  a.put('lui', { rd: 5, imm: 0x10_0000 }); // the test finisher
  a.put('lui', { rd: 6, imm: 0x5000 });
  a.put('addi', { rd: 6, rs1: 6, imm: 0x555 });
  a.put('sw', { rs2: 6, rs1: 5 });
  a.label('halt');
  a.to('halt', 'jal');
  a.finish();
  return a;
}

/** Logs mcause, mtval and mepc, and continues behind the instruction that trapped. */
function trapHandler(): Assembler {
  const a = new Assembler();
  a.put('csrrw', { rd: 31, rs1: 31, imm: csr('mscratch') });
  a.put('sd', { rs2: 30, rs1: 31, imm: SCRATCH });
  a.put('sd', { rs2: 29, rs1: 31, imm: SCRATCH + 8 });
  a.put('ld', { rd: 30, rs1: 31, imm: BLOCK_TRAPS });
  a.put('andi', { rd: 29, rs1: 30, imm: LOG_ENTRIES - 1 });
  a.put('slli', { rd: 29, rs1: 29, imm: 5 });
  a.put('add', { rd: 29, rs1: 29, rs2: 31 });
  a.put('addi', { rd: 30, rs1: 30, imm: 1 });
  a.put('sd', { rs2: 30, rs1: 31, imm: BLOCK_TRAPS });
  a.put('csrrs', { rd: 30, imm: csr('mcause') });
  a.put('sd', { rs2: 30, rs1: 29, imm: BLOCK_LOG });
  a.put('csrrs', { rd: 30, imm: csr('mtval') });
  a.put('sd', { rs2: 30, rs1: 29, imm: BLOCK_LOG + 8 });
  a.put('csrrs', { rd: 30, imm: csr('mepc') });
  a.put('sd', { rs2: 30, rs1: 29, imm: BLOCK_LOG + 16 });
  a.put('lhu', { rd: 29, rs1: 30 });
  a.put('andi', { rd: 29, rs1: 29, imm: 3 });
  a.put('addi', { rd: 29, rs1: 29, imm: -3 });
  a.to('short', 'bne', { rs1: 29 });
  a.put('addi', { rd: 30, rs1: 30, imm: 2 });
  a.label('short');
  a.put('addi', { rd: 30, rs1: 30, imm: 2 });
  a.put('csrrw', { rs1: 30, imm: csr('mepc') });
  a.put('ld', { rd: 29, rs1: 31, imm: SCRATCH + 8 });
  a.put('ld', { rd: 30, rs1: 31, imm: SCRATCH });
  a.put('csrrw', { rd: 31, rs1: 31, imm: csr('mscratch') });
  a.put('mret');
  a.finish();
  return a;
}

const PROLOGUE = [encode('ld', { rd: 1, rs1: 31, imm: 8 }), encode('ld', { rd: 31, rs1: 31, imm: 31 * 8 })];
const EPILOGUE = [
  encode('csrrw', { rd: 31, rs1: 31, imm: csr('mscratch') }),
  encode('sd', { rs2: 1, rs1: 31, imm: 8 }),
  encode('ld', { rd: 1, rs1: 31, imm: EXIT }),
  encode('jalr', { rs1: 1 }),
];

export interface Image {
  readonly bytes: Uint8Array;
  /** Offsets in the image. */
  readonly blocks: readonly number[];
  readonly datas: readonly number[];
  /** Physical address of the first instruction of each program, after the prologue. */
  readonly entries: readonly bigint[];
  /** Where control stays after the last program: the finisher has been written, or is absent. */
  readonly end: bigint;
  /** Instructions of the harness in each round of a program, and for each trap. */
  readonly overhead: { readonly round: number; readonly trap: number };
}

const align = (value: number, to: number): number => Math.ceil(value / to) * to;

function putWords(view: DataView, at: number, words: readonly number[]): void {
  words.forEach((word, index) => {
    view.setUint32(at + index * 4, word, true);
  });
}

export function buildImage(programs: readonly Program[]): Image {
  const main = harness();
  const handler = trapHandler();
  const codes = programs.map(program => assemble(program.pieces).code);
  // Code and data lie on different pages: a store to a page of code costs an emulator a
  // retranslation.
  const frame = (PROLOGUE.length + EPILOGUE.length) * 4;
  const entries: number[] = [];
  let size = HARNESS_BYTES;
  for (const code of codes) {
    entries.push(size);
    size = align(size + frame + code.length, 64);
  }
  const first = align(size, 4096);
  const blocks = programs.map((_unused, index) => first + index * (BLOCK_BYTES + DATA_ROOM));
  const bytes = new Uint8Array(align(first + programs.length * (BLOCK_BYTES + DATA_ROOM), 4096));
  const view = new DataView(bytes.buffer);
  putWords(view, 0, main.words);
  putWords(view, TRAP_OFFSET, handler.words);
  const address = (offset: number): bigint => RAM_BASE + BigInt(offset);
  view.setBigUint64(HEAD, blocks.length === 0 ? 0n : address(blocks[0]!), true);
  const exit = address(main.labels.get('exit')!);

  programs.forEach((program, index) => {
    const block = blocks[index]!;
    const data = block + BLOCK_BYTES;
    const entry = entries[index]!;
    const next = blocks[index + 1];
    program.x.forEach((value, n) => {
      const offset = program.pointers.get(n);
      view.setBigUint64(block + n * 8, offset === undefined ? value : address(data + offset), true);
    });
    program.f.forEach((value, n) => {
      view.setBigUint64(block + BLOCK_F + n * 8, value, true);
    });
    view.setBigUint64(block + BLOCK_FCSR, BigInt(program.fcsr), true);
    view.setBigUint64(block + ENTRY, address(entry), true);
    view.setBigUint64(block + EXIT, exit, true);
    view.setBigUint64(block + ROUNDS, BigInt(program.rounds), true);
    view.setBigUint64(block + NEXT, next === undefined ? 0n : address(next), true);
    bytes.set(program.data, data);
    putWords(view, entry, PROLOGUE);
    bytes.set(codes[index]!, entry + PROLOGUE.length * 4);
    const tail = entry + PROLOGUE.length * 4 + codes[index]!.length;
    EPILOGUE.forEach((word, n) => {
      // the code may end on a half-word
      view.setUint16(tail + n * 4, word & 0xffff, true);
      view.setUint16(tail + n * 4 + 2, word >>> 16, true);
    });
  });
  return {
    bytes,
    blocks,
    datas: blocks.map(block => block + BLOCK_BYTES),
    entries: entries.map(entry => address(entry + PROLOGUE.length * 4)),
    end: address(main.labels.get('halt')!),
    overhead: {
      round: (main.labels.get('finish')! - main.labels.get('next')!) / 4 + PROLOGUE.length + EPILOGUE.length,
      trap: handler.words.length,
    },
  };
}

/** At most so many instructions of a finished run were the harness, not programs. */
export function harnessInstructions(
  { blocks, overhead }: Image,
  programs: readonly Program[],
  memory: Uint8Array,
): number {
  const view = new DataView(memory.buffer, memory.byteOffset);
  return programs.reduce((sum, { rounds }, i) => {
    const traps = Number(view.getBigUint64(blocks[i]! + BLOCK_TRAPS, true));
    return sum + rounds * overhead.round + traps * overhead.trap;
  }, 0);
}

/** Differences of one program's final states in two memories, as lines; empty when they agree. */
export function compareProgram(image: Image, index: number, a: Uint8Array, b: Uint8Array): string[] {
  const block = image.blocks[index]!;
  const end = image.datas[index]! + DATA_ROOM;
  if (Buffer.compare(a.subarray(block, end), b.subarray(block, end)) === 0) return [];
  const va = new DataView(a.buffer, a.byteOffset);
  const vb = new DataView(b.buffer, b.byteOffset);
  const lines: string[] = [];
  for (let at = block; at < end; at += 8) {
    const x = va.getBigUint64(at, true);
    const y = vb.getBigUint64(at, true);
    if (x !== y) lines.push(`${placeName(at - block)}: ${text64(x)} ${text64(y)}`);
  }
  return lines;
}

const text64 = (value: bigint): string => value.toString(16).padStart(16, '0');

function placeName(at: number): string {
  if (at < BLOCK_F) return `x${at / 8}`;
  if (at < BLOCK_FCSR) return `f${(at - BLOCK_F) / 8}`;
  if (at === BLOCK_FCSR) return 'fcsr';
  if (at === BLOCK_TRAPS) return 'number of traps';
  if (at === BLOCK_DIGEST) return 'digest of all rounds';
  if (at >= BLOCK_LOG && at < BLOCK_BYTES) {
    const field = ['cause', 'tval', 'epc', 'unused'][((at - BLOCK_LOG) / 8) & 3]!;
    return `trap ${(at - BLOCK_LOG) >>> 5} ${field}`;
  }
  return at < BLOCK_BYTES ? `block+${at}` : `data+${at - BLOCK_BYTES}`;
}

/** Programs whose final states differ, by index. */
export function compareMemories(image: Image, a: Uint8Array, b: Uint8Array): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (let index = 0; index < image.blocks.length; index++) {
    const lines = compareProgram(image, index, a, b);
    if (lines.length > 0) found.set(index, lines);
  }
  return found;
}
