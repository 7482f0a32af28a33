/**
 * One executable section, decoded once from front to back: the starts of instructions, the bounds
 * of straight-line code, and the calls of the compiler's hooks. RISC-V compilers put no data
 * between functions, so linear decoding is correct; the symbol table gives the starts of functions,
 * whatever the bytes before them decode to.
 */
import type { Addr } from '../base/bytes.ts';
import type { Elf, Section } from './elf.ts';
import { bImm, cbImm, cjImm, jImm, OP_AUIPC, OP_BRANCH, OP_JAL, OP_JALR, RA } from './riscv.ts';

const INSN = 1;
const LEADER = 2;
const ENDS_BLOCK = 4;

/** A hook call: the auipc or jal that begins it, the jump itself, and the return address. */
export interface HookCall {
  start: Addr;
  call: Addr;
  ret: Addr;
  hook: number;
}

export class CodeScan {
  readonly base: Addr;
  readonly view: DataView;
  readonly size: number;
  /** Of each halfword; for `coverage/kept`. */
  readonly flags: Uint8Array;

  /** `flags`: of an earlier scan; the section need not be scanned then. */
  constructor(elf: Elf, section: Section, flags?: Uint8Array) {
    const bytes = elf.data(section);
    this.base = section.addr;
    this.size = bytes.length & ~1;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.flags = flags ?? new Uint8Array((this.size >> 1) + 2);
  }

  /** True if an instruction begins at this offset. */
  isInsn(offset: number): boolean {
    return (this.flags[offset >> 1]! & INSN) !== 0;
  }

  /** Bytes of the instruction at an offset. */
  length(offset: number): 2 | 4 {
    return (this.view.getUint16(offset, true) & 3) === 3 ? 4 : 2;
  }

  private mark(offset: number, flag: number): void {
    if (offset >= 0 && offset < this.size) this.flags[offset >> 1]! |= flag;
  }

  /**
   * Decode; hook calls go to `found`. `starts` are the addresses of functions, `hooks` those of the
   * hooks.
   */
  scan(starts: Float64Array, hooks: Map<Addr, number>, found: HookCall[]): void {
    let nextStart = 0;
    let pairAt = -1; // offset of an auipc directly before, and what it computed
    let pairReg = 0;
    let pairValue = 0;
    for (let at = 0; at < this.size; ) {
      while (nextStart < starts.length && starts[nextStart]! - this.base < at) nextStart++;
      const low = this.view.getUint16(at, true);
      const length = (low & 3) === 3 ? 4 : 2;
      const boundary = nextStart < starts.length ? starts[nextStart]! - this.base : this.size;
      if (boundary > at && at + length > boundary) {
        at = boundary;
        continue;
      }
      if (at + length > this.size) break;
      this.flags[at >> 1]! |= INSN | (boundary === at ? LEADER : 0);
      if (length === 2) this.compressed(at, low);
      else {
        const word = this.view.getInt32(at, true);
        const opcode = word & 0x7f;
        const rd = (word >> 7) & 31;
        if (opcode === OP_AUIPC) {
          pairAt = at;
          pairReg = rd;
          pairValue = this.base + at + (word & ~0xfff);
        } else if (opcode === OP_JAL) this.jal(at, word, rd, hooks, found);
        else if (opcode === OP_JALR) {
          const target = pairValue + (word >> 20);
          const isPair = pairAt === at - 4 && ((word >> 15) & 31) === pairReg;
          if (rd === 0) this.flags[at >> 1]! |= ENDS_BLOCK;
          else if (rd === RA && isPair) this.call(pairAt, at, target, hooks, found);
        } else this.other(at, word, opcode);
      }
      at += length;
    }
  }

  private call(start: number, at: number, target: Addr, hooks: Map<Addr, number>, found: HookCall[]): void {
    const hook = hooks.get(target);
    if (hook === undefined) return;
    found.push({ start: this.base + start, call: this.base + at, ret: this.base + at + 4, hook });
  }

  private jal(at: number, word: number, rd: number, hooks: Map<Addr, number>, found: HookCall[]): void {
    const offset = jImm(word);
    if (rd === RA) {
      this.call(at, at, this.base + at + offset, hooks, found);
      return;
    }
    this.flags[at >> 1]! |= ENDS_BLOCK;
    this.mark(at + offset, LEADER);
  }

  private other(at: number, word: number, opcode: number): void {
    if (opcode === OP_BRANCH) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + bImm(word), LEADER);
    } else if (word === 0x00100073 || word === 0x30200073 || word === 0x10200073) {
      this.flags[at >> 1]! |= ENDS_BLOCK; // ebreak, mret, sret
    }
  }

  private compressed(at: number, half: number): void {
    const kind = half & 0xe003;
    if (kind === 0xa001) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + cjImm(half), LEADER);
    } else if (kind === 0xc001 || kind === 0xe001) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + cbImm(half), LEADER);
    } else if (half === 0 || half === 0x9002 || ((half & 0xf07f) === 0x8002 && half !== 0x8002)) {
      this.flags[at >> 1]! |= ENDS_BLOCK; // c.unimp, c.ebreak, c.jr
    }
  }

  /** Start of the straight line that leads to `offset`, not before `floor`. */
  lineStart(offset: number, floor: number): number {
    let at = offset;
    while (at > floor && !(this.flags[at >> 1]! & LEADER)) {
      let before = at - 2;
      if (before >= 2 && !(this.flags[before >> 1]! & INSN)) before -= 2;
      const flags = before >= floor ? this.flags[before >> 1]! : 0;
      if (!(flags & INSN) || flags & ENDS_BLOCK) break;
      at = before;
    }
    return at;
  }

  /** End of the straight line from `offset` on, not beyond `ceiling`. */
  lineEnd(offset: number, ceiling: number): number {
    let at = offset;
    while (at < ceiling) {
      const flags = this.flags[at >> 1]!;
      if (!(flags & INSN) || flags & LEADER) break;
      at += this.length(at);
      if (flags & ENDS_BLOCK) break;
    }
    return Math.min(at, ceiling);
  }
}
