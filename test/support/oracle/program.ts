// Random test programs as data: a list of pieces with symbolic targets, so that a shrinker can drop
// any piece and the rest still assembles; printed as assembly for a person to paste.

import { decode, encode, encodeCompressed, type Operands } from '../../../emulator/isa/codec.ts';
import { disassemble } from '../../../emulator/isa/disasm.ts';
import type { Mnemonic } from '../../../emulator/isa/table.ts';
import { TABLE_C } from '../../../emulator/isa/table-c.ts';

export interface Piece {
  readonly id: number;
  readonly name: Mnemonic;
  readonly operands: Operands;
  /** Use the compressed form where one exists for these operands. */
  readonly short: boolean;
  /** Forms of Zcb, too. */
  readonly zcb?: boolean;
  /** A forward branch or jump goes to the first remaining piece whose id is not below this. */
  readonly target?: number;
  /** A backward branch goes to the first remaining piece whose id is not below this. */
  readonly back?: number;
  /** An instruction in front that no branch may skip: it makes the register that this one needs. */
  readonly first?: { readonly name: Mnemonic; readonly operands: Operands };
  /** A word or half-word to be executed as it is; the other fields then mean nothing. */
  readonly raw?: number;
}

export interface Program {
  readonly pieces: readonly Piece[];
  /** x0..x31, with pointers relative to the data area where `pointers` says so. */
  readonly x: readonly bigint[];
  readonly f: readonly bigint[];
  readonly fcsr: number;
  /** Registers that hold `data + offset` and are never written. */
  readonly pointers: ReadonlyMap<number, number>;
  readonly data: Uint8Array;
  /** How often the program runs; each round starts with the registers of the one before. */
  readonly rounds: number;
}

/** The compressed half-word for a piece, when it wants one and one exists. */
function shortForm(piece: Piece, operands: Operands): number | undefined {
  if (!piece.short) return undefined;
  for (const row of TABLE_C) {
    if (row.base !== piece.name || (row.ext === 'zcb' && !piece.zcb)) continue;
    const half = encodeCompressed(row, operands);
    if (half !== undefined) return half;
  }
  return undefined;
}

const isLong = (word: number): boolean => (word & 3) === 3;

/** Encoded words of a piece at `at`, with its target at `to`. */
function wordsOf(piece: Piece, at: number, to: number): number[] {
  if (piece.raw !== undefined) return [piece.raw];
  // auipc leaves its own address; any other first instruction only moves this one.
  const from = piece.first === undefined || piece.first.name === 'auipc' ? at : at + 4;
  const isJump = piece.target !== undefined || piece.back !== undefined;
  const operands = isJump ? { ...piece.operands, imm: to - from } : piece.operands;
  const word = shortForm(piece, operands) ?? encode(piece.name, operands);
  return piece.first === undefined ? [word] : [encode(piece.first.name, piece.first.operands), word];
}

const bytesOf = (words: readonly number[]): number =>
  words.reduce((sum, word) => sum + (isLong(word) ? 4 : 2), 0);

/**
 * Code bytes of a program and the offset of each piece. Distances are short, so sizes do not depend
 * on targets.
 */
export function assemble(pieces: readonly Piece[]): { code: Uint8Array; offsets: number[] } {
  const offsets: number[] = [];
  let end = 0;
  for (const piece of pieces) {
    offsets.push(end);
    // Any small even distance gives the right size: forward targets are at most a few pieces away.
    end += bytesOf(wordsOf(piece, 0, 8));
  }
  const code = new DataView(new ArrayBuffer(end));
  pieces.forEach((piece, index) => {
    let at = offsets[index]!;
    const { target = 0, back } = piece;
    const next =
      back === undefined
        ? pieces.findIndex((other, n) => n > index && other.id >= target)
        : pieces.findIndex(other => other.id >= back);
    const to = next < 0 ? end : offsets[next]!;
    for (const word of wordsOf(piece, at, to)) {
      if (isLong(word)) code.setUint32(at, word, true);
      else code.setUint16(at, word, true);
      at += isLong(word) ? 4 : 2;
    }
  });
  return { code: new Uint8Array(code.buffer), offsets };
}

/** One line per instruction: offset, encoding, text. */
export function listing(pieces: readonly Piece[], base: bigint): string[] {
  const { code } = assemble(pieces);
  const view = new DataView(code.buffer);
  const lines: string[] = [];
  for (let at = 0; at < code.length; ) {
    const half = view.getUint16(at, true);
    const word = isLong(half) ? view.getUint32(at, true) : half;
    const insn = decode(word);
    const pc = base + BigInt(at);
    const text = insn === undefined ? '(illegal)' : disassemble(insn, pc);
    const bytes = isLong(half) ? 4 : 2;
    lines.push(
      `${pc.toString(16)}: ${word
        .toString(16)
        .padStart(bytes * 2, '0')
        .padEnd(9)} ${text}`,
    );
    at += bytes;
  }
  return lines;
}
