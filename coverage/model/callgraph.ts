/**
 * The possible callers of each function, from the calls in the text of an image. The trace tells
 * only which functions were entered; this graph tells a call made by the current function from one
 * made by its caller after it returned.
 */
import { type Addr, upperBound } from '../base/bytes.ts';
import { type Elf, STT_FUNC } from '../elf/elf.ts';
import { jImm, OP_AUIPC, OP_JAL, OP_JALR } from '../elf/riscv.ts';

const STEPS = 4;

export class CallGraph {
  private readonly starts: Float64Array;
  private readonly callees: Set<Addr>[];
  private readonly indirect: Uint8Array;
  private readonly within = new Map<number, Set<Addr>>();

  constructor(elf: Elf) {
    const { symbols } = elf;
    const starts: Addr[] = [];
    for (let i = 0; i < symbols.count; i++) if (symbols.type[i] === STT_FUNC) starts.push(symbols.addr[i]!);
    this.starts = Float64Array.from(new Set(starts)).sort();
    this.callees = Array.from(this.starts, () => new Set<Addr>());
    this.indirect = new Uint8Array(this.starts.length);
    for (const section of elf.executableSections()) this.scan(elf.data(section), section.addr);
  }

  private indexOf(addr: Addr): number {
    return upperBound(this.starts.length, addr, i => this.starts[i]!) - 1;
  }

  private scan(bytes: Uint8Array, base: Addr): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let fn = this.indexOf(base);
    let pairAt = -1;
    let pairReg = 0;
    let pairValue = 0;
    for (let at = 0; at + 4 <= bytes.length; ) {
      while (fn + 1 < this.starts.length && this.starts[fn + 1]! <= base + at) fn++;
      const low = view.getUint16(at, true);
      if ((low & 3) !== 3) {
        // c.jalr, and c.jr through anything but the return address
        if ((low & 0xf07f) === 0x9002 && low !== 0x9002) this.mark(fn);
        at += 2;
        continue;
      }
      const word = view.getInt32(at, true);
      const opcode = word & 0x7f;
      if (opcode === OP_AUIPC) {
        pairAt = at;
        pairReg = (word >> 7) & 31;
        pairValue = base + at + (word & ~0xfff);
      } else if (opcode === OP_JAL) this.add(fn, base + at + jImm(word));
      else if (opcode === OP_JALR) {
        const source = (word >> 15) & 31;
        if (pairAt === at - 4 && source === pairReg) this.add(fn, pairValue + (word >> 20));
        else if (((word >> 7) & 31) !== 0) this.mark(fn);
      }
      at += 4;
    }
  }

  private add(fn: number, target: Addr): void {
    if (fn >= 0) this.callees[fn]!.add(target);
  }

  private mark(fn: number): void {
    if (fn >= 0) this.indirect[fn] = 1;
  }

  /**
   * True if the function that starts at `caller` has a direct call (or tail call) of the one at
   * `callee`.
   */
  calls(caller: Addr, callee: Addr): boolean {
    const fn = this.indexOf(caller);
    return fn >= 0 && this.callees[fn]!.has(callee);
  }

  /**
   * True if one reaches the other by direct calls, at most `STEPS` deep. Some of the functions
   * between may leave no record.
   */
  reaches(caller: Addr, callee: Addr): boolean {
    const fn = this.indexOf(caller);
    if (fn < 0) return false;
    let reached = this.within.get(fn);
    if (!reached) {
      reached = new Set(this.callees[fn]!);
      let edge = [...reached];
      for (let step = 1; step < STEPS && edge.length > 0; step++) {
        const next: Addr[] = [];
        for (const target of edge) {
          const index = this.indexOf(target);
          if (index < 0 || this.starts[index] !== target) continue; // a jump within a function
          for (const further of this.callees[index]!) {
            if (reached.has(further)) continue;
            reached.add(further);
            next.push(further);
          }
        }
        edge = next;
      }
      this.within.set(fn, reached);
    }
    return reached.has(callee);
  }

  callsIndirectly(caller: Addr): boolean {
    const fn = this.indexOf(caller);
    return fn >= 0 && this.indirect[fn] === 1;
  }
}
