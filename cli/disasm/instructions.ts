// Instructions as text for people: Capstone's text for every address, with targets as absolute
// address and symbol + offset. Capstone computes in doubles, which cannot hold kernel addresses; it
// gets address 0 and prints offsets, and our own decoder computes the targets exactly. Instructions
// that Capstone does not know (Zba, Zbb, Zbs, Zicond, cache blocks) come from our own table, in
// Capstone's spelling.
import { decode, disassemble, type Insn } from '../../emulator/index.ts';

/** "name" or "name+0x1c" for an address; undefined where no symbol covers it. */
export type Naming = (address: bigint) => string | undefined;

interface Capstone {
  disasm(bytes: Uint8Array, address: number): { size: number; mnemonic: string; op_str: string }[];
}

const BRANCHES = new Set(['beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu', 'jal']);
/** Instructions that add their immediate to rs1; it may be the low half of an address. */
const USES_BASE = new Set([
  'jalr',
  'addi',
  'lb',
  'lh',
  'lw',
  'ld',
  'lbu',
  'lhu',
  'lwu',
  'sb',
  'sh',
  'sw',
  'sd',
]);

const wordOf = (bytes: Uint8Array): number => bytes.reduce((word, byte, i) => word + byte * 2 ** (8 * i), 0);
const at64 = (value: bigint): bigint => BigInt.asUintN(64, value);

/** Our table's text with numbers up to 9 in decimal and a tab after the mnemonic. */
function inTheirSpelling(text: string): string {
  const small = text.replace(/-?0x([0-9])\b(?![0-9a-f])/g, all => all.replace('0x', ''));
  return small.replace(' ', '\t');
}

export class Disassembler {
  readonly #capstone: Capstone;
  readonly #naming: Naming;
  /** The last `auipc` and its result. */
  #upper: { rd: number; value: bigint; next: bigint } | undefined;

  private constructor(capstone: Capstone, naming: Naming) {
    this.#capstone = capstone;
    this.#naming = naming;
  }

  static async open(naming: Naming = () => undefined): Promise<Disassembler> {
    const { default: create } = await import('@alexaltea/capstone-js');
    const cs = await create();
    return new Disassembler(new cs.Capstone(cs.ARCH_RISCV, cs.MODE_RISCV64 | cs.MODE_RISCVC), naming);
  }

  /**
   * One instruction of two or four bytes at `address`: mnemonic, a tab, operands. Call in order of
   * address.
   */
  text(bytes: Uint8Array, address: bigint): string {
    const insn = decode(wordOf(bytes));
    const text = this.#capstoneText(bytes) ?? (insn && inTheirSpelling(disassemble(insn, 0n)));
    if (text === undefined)
      return `.${bytes.length === 4 ? 'word' : 'half'}\t0x${wordOf(bytes).toString(16)}`;
    return insn ? this.#withTarget(text, insn, address) : text;
  }

  #capstoneText(bytes: Uint8Array): string | undefined {
    try {
      const [insn] = this.#capstone.disasm(bytes, 0);
      return insn?.size === bytes.length ? `${insn.mnemonic}\t${insn.op_str}`.trimEnd() : undefined;
    } catch {
      return undefined; // it throws on unknown instructions
    }
  }

  #withTarget(text: string, insn: Insn, address: bigint): string {
    const upper = this.#upper;
    this.#upper = undefined;
    if (BRANCHES.has(insn.name)) {
      const target = at64(address + BigInt(insn.imm));
      return `${text.replace(/-?(0x)?[0-9a-f]+$/, '')}0x${target.toString(16)}${this.#named(target, ' <', '>')}`;
    }
    if (insn.name === 'auipc') {
      const value = at64(address + BigInt(insn.imm));
      this.#upper = { rd: insn.rd, value, next: address + 4n };
    } else if (upper?.next === address && upper.rd === insn.rs1 && USES_BASE.has(insn.name)) {
      const target = at64(upper.value + BigInt(insn.imm));
      return `${text}\t# 0x${target.toString(16)}${this.#named(target, ' <', '>')}`;
    }
    return text;
  }

  #named(address: bigint, before: string, after: string): string {
    const name = this.#naming(address);
    return name === undefined ? '' : `${before}${name}${after}`;
  }
}

/**
 * Bytes from the front of `code` as instructions; `size` is 4 if the low two bits are set and four
 * bytes are left.
 */
export function* split(code: Uint8Array): Generator<{ at: number; bytes: Uint8Array }> {
  for (let at = 0; at + 2 <= code.length; ) {
    const size = (code[at]! & 3) === 3 && at + 4 <= code.length ? 4 : 2;
    yield { at, bytes: code.subarray(at, at + size) };
    at += size;
  }
}
