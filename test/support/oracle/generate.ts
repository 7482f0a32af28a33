// Random programs from the rows of the instruction table. A profile says which rows and how often;
// nothing here knows what an instruction does, only which registers it names and whether it touches
// memory or moves control.

import { decode, type Operands } from '../../../emulator/isa/codec.ts';
import { csrNamed } from '../../../emulator/isa/csr.ts';
import { OPERANDS } from '../../../emulator/isa/fields.ts';
import type { Extension } from '../../../emulator/isa/row.ts';
import { type Mnemonic, ROWS, rowNamed, type TableRow } from '../../../emulator/isa/table.ts';
import type { Random } from '../random.ts';
import { cornerDouble, cornerHalf, cornerInteger, cornerSingle } from './corners.ts';
import { DATA_BYTES } from './image.ts';
import type { Piece, Program } from './program.ts';

export interface Profile {
  readonly name: string;
  readonly extensions: readonly Extension[];
  /** Rows that the oracle is known to get wrong. */
  readonly without?: readonly Mnemonic[];
  /** CSRs that csr instructions may name; none = no csr instructions. */
  readonly csrs?: readonly string[];
  /** One piece in this many is something that traps; 0 = never. */
  readonly trapOneIn?: number;
  /**
   * No `ebreak`: QEMU from 9.0 on reports its address in mtval, where ours and older ones write 0.
   * Both are right.
   */
  readonly withoutEbreak?: boolean;
  readonly pieces: number;
  readonly rounds: number;
  /** Relative weight of rows by what they do. */
  readonly weights: {
    readonly compute: number;
    readonly float: number;
    readonly memory: number;
    readonly flow: number;
  };
}

/** Stores stay behind the corner values that float loads read. */
const READ_ONLY_BYTES = 1024;
const MIDDLE = 2048;

interface Pools {
  readonly compute: TableRow[];
  readonly float: TableRow[];
  readonly memory: TableRow[];
  readonly atomic: TableRow[];
  readonly block: TableRow[];
  readonly branches: TableRow[];
}

function poolsOf(profile: Profile): Pools {
  const rows = ROWS.filter(
    row => profile.extensions.includes(row.ext) && profile.without?.includes(row.name) !== true,
  );
  const plain = rows.filter(row => row.flow === 'next' && row.mem.kind === 'none' && row.ext !== 'priv');
  return {
    compute: plain.filter(row => !row.isFloat),
    float: plain.filter(row => row.isFloat),
    memory: rows.filter(row => row.mem.kind === 'load' || row.mem.kind === 'store'),
    atomic: rows.filter(row => row.mem.kind === 'amo' || row.mem.kind === 'lr' || row.mem.kind === 'sc'),
    block: rows.filter(row => row.mem.kind === 'block'),
    branches: rows.filter(row => row.flow === 'branch'),
  };
}

class Generator {
  readonly #random: Random;
  readonly #profile: Profile;
  readonly #pools: Pools;
  readonly #pieces: Piece[] = [];
  /** Counts the rounds of loops; written by nothing else, and not positive outside of them. */
  readonly counter: number;
  /** Id of the piece at which the open loop begins, and where it shall end. */
  #loop: { start: number; end: number } | undefined;
  /** Data pointers: register to offset. x2 is one, for the compressed stack forms. */
  readonly pointers = new Map<number, number>();
  #writable: number[] = [];

  constructor(random: Random, profile: Profile) {
    this.#random = random;
    this.#profile = profile;
    this.#pools = poolsOf(profile);
    this.pointers.set(2, MIDDLE);
    this.pointers.set(8 + random.below(8), MIDDLE + 8 * random.below(8));
    // Half aligned: word atomics only, and misaligned doublewords.
    this.pointers.set(16 + random.below(16), MIDDLE + 4 + 8 * random.below(8));
    this.counter = 3 + random.below(5);
    for (let n = 0; n < 32; n++) {
      if (!this.pointers.has(n) && n !== this.counter) this.#writable.push(n);
    }
  }

  pieces(): Piece[] {
    const { weights, pieces } = this.#profile;
    const total = weights.compute + weights.float + weights.memory + weights.flow;
    while (this.#pieces.length < pieces) {
      this.#loops();
      let draw = this.#random.below(total);
      if (this.#profile.trapOneIn && this.#random.oneIn(this.#profile.trapOneIn)) this.#trap();
      else if ((draw -= weights.compute) < 0) this.#compute();
      else if ((draw -= weights.float) < 0) this.#plain(this.#pools.float);
      else if ((draw -= weights.memory) < 0) this.#memory();
      else this.#flow();
    }
    return this.#pieces;
  }

  /**
   * Opens or closes a loop. Wherever a branch enters or leaves it, it ends: the counter only falls,
   * and the loop goes on only while it is positive.
   */
  #loops(): void {
    const c = this.counter;
    const here = this.#pieces.length;
    if (this.#loop === undefined) {
      if (!this.#random.oneIn(12)) return;
      this.#add('addi', { rd: c, imm: 2 + this.#random.below(10) });
      this.#loop = { start: here + 1, end: here + 3 + this.#random.below(20) };
    } else if (here >= this.#loop.end) {
      const first = { name: 'addi', operands: { rd: c, rs1: c, imm: -1 } } as const;
      this.#add('blt', { rs1: 0, rs2: c }, { first, back: this.#loop.start, short: false });
      this.#loop = undefined;
    }
  }

  #add(name: Mnemonic, operands: Operands, rest: Partial<Piece> = {}): void {
    const zcb = this.#profile.extensions.includes('zcb');
    const short = !this.#random.oneIn(3);
    this.#pieces.push({ id: this.#pieces.length, name, operands, short, zcb, ...rest });
  }

  /** Registers and immediates for the row; destinations avoid the pointers. */
  #operands(row: TableRow): Operands {
    const random = this.#random;
    const operands: Operands = {};
    // The compressed forms want x8..x15 and rd = rs1, which uniform choice would hardly ever give.
    const isNear = random.oneIn(2);
    for (const name of row.format.operands) {
      const field = OPERANDS[name]!;
      const slot = field.slots[0]!;
      const any = isNear ? 8 + random.below(8) : random.below(32);
      if (slot === 'rd' && field.kind === 'x') operands.rd = this.#destination(isNear);
      else if (field.kind === 'x' || field.kind === 'f') operands[slot] = any;
      else if (field.kind === 'rm') operands.rm = random.pick([0, 1, 2, 3, 4, 7, 7, 7]);
      else if (field.kind === 'bit') operands[slot] = random.below(2);
      else operands[slot] = this.#immediate(field.width, field.low, field.signed);
    }
    if (isNear && row.regs.rd === 'x' && row.regs.rs1 === 'x' && random.oneIn(2)) operands.rs1 = operands.rd!;
    return operands;
  }

  #destination(isNear: boolean): number {
    const near = this.#writable.filter(n => n >= 8 && n < 16);
    return this.#random.pick(isNear ? near : this.#writable);
  }

  #immediate(width: number, low: number, signed: boolean): number {
    const raw = (this.#random.u32() >>> (32 - width + low)) << low;
    const value = signed ? (raw << (32 - width)) >> (32 - width) : raw;
    const small = value % 32;
    return this.#random.oneIn(2) && low === 0 ? small : value;
  }

  #plain(pool: readonly TableRow[]): void {
    if (pool.length === 0) return;
    const row = this.#random.pick(pool);
    this.#add(row.name, this.#operands(row));
  }

  #compute(): void {
    const { csrs } = this.#profile;
    if (csrs !== undefined && this.#random.oneIn(6)) this.#csr(csrs);
    else this.#plain(this.#pools.compute);
  }

  #csr(csrs: readonly string[]): void {
    const random = this.#random;
    const name = random.pick(['csrrw', 'csrrs', 'csrrc', 'csrrwi', 'csrrsi', 'csrrci'] as const);
    const rd = random.oneIn(4) ? 0 : this.#destination(false);
    const rs1 = random.oneIn(3) ? 0 : random.below(32);
    this.#add(name, { rd, rs1, imm: csrNamed(random.pick(csrs)).number });
  }

  #memory(): void {
    const random = this.#random;
    if (this.#pools.atomic.length > 0 && random.oneIn(4)) {
      this.#atomic();
      return;
    }
    if (this.#pools.block.length > 0 && random.oneIn(10)) {
      const [rs1] = random.pick([...this.pointers]);
      this.#add(random.pick(this.#pools.block).name, { rs1 });
      return;
    }
    const row = random.pick(this.#pools.memory);
    const operands = this.#operands(row);
    const [base, offset] = random.pick([...this.pointers]);
    const lowest = row.mem.kind === 'store' ? READ_ONLY_BYTES : 0;
    const from = Math.max(-2048, lowest - offset);
    const to = Math.min(2047, DATA_BYTES - offset);
    let imm = from + random.below(to - from + 1);
    if (!random.oneIn(4)) imm &= -row.mem.bytes;
    if (random.oneIn(3)) imm = random.below(16) * row.mem.bytes;
    this.#add(row.name, { ...operands, rs1: base, imm: Math.max(imm, from) });
  }

  /** Always aligned: an `lr` and its `sc` with little between, or one read-modify-write. */
  #atomic(): void {
    const random = this.#random;
    const row = random.pick(this.#pools.atomic);
    const aligned = [...this.pointers].filter(([, offset]) => offset % row.mem.bytes === 0);
    const [rs1] = random.pick(aligned);
    if (row.mem.kind !== 'lr') {
      this.#add(row.name, { ...this.#operands(row), rs1 });
      return;
    }
    const sc: Mnemonic = row.mem.bytes === 4 ? 'sc.w' : 'sc.d';
    this.#add(row.name, { ...this.#operands(row), rs1 });
    for (let n = random.below(3); n > 0; n--) this.#plain(this.#pools.compute);
    this.#add(sc, { rd: this.#destination(false), rs2: random.below(32), rs1 });
  }

  /** A forward jump over at most eight pieces. */
  #flow(): void {
    const random = this.#random;
    const target = this.#pieces.length + 1 + random.below(8);
    const rd = random.oneIn(2) ? 0 : this.#destination(false);
    const kind = random.below(8);
    if (kind === 0) this.#add('jal', { rd }, { target });
    else if (kind === 1) {
      const through = this.#destination(false);
      const first = { name: 'auipc', operands: { rd: through } } as const;
      if (through !== 0) this.#add('jalr', { rd, rs1: through }, { target, first, short: false });
    } else {
      const row = random.pick(this.#pools.branches);
      const rs2 = random.oneIn(3) ? 0 : random.below(32);
      this.#add(row.name, { ...this.#operands(row), rs2 }, { target });
    }
  }

  /** A call, a breakpoint, something illegal, a hole in the memory map, or a misaligned atomic. */
  #trap(): void {
    const random = this.#random;
    const kind = random.below(6);
    if (kind === 0) this.#add('ecall', {});
    else if (kind === 1 && !this.#profile.withoutEbreak) this.#add('ebreak', {}, { short: random.oneIn(2) });
    else if (kind < 4) this.#add('ecall', {}, { raw: illegalWord(random) });
    else if (kind === 4) {
      const rd = this.#destination(true);
      // Nothing is there on the board.
      const first = { name: 'lui', operands: { rd, imm: 0x20_0000 } } as const;
      const row = random.pick(this.#pools.memory);
      // Aligned: QEMU splits a misaligned device access, and reports the address of a part.
      this.#add(row.name, { ...this.#operands(row), rs1: rd, imm: random.below(8) * 8 }, { first });
    } else {
      // Only lr: QEMU 7.2 examines the reservation of sc first, and calls a misaligned amo a load
      // (cause 4, not 6).
      const row = rowNamed('lr.d');
      const odd = [...this.pointers].find(([, offset]) => offset % 8 !== 0)!;
      this.#add(row.name, { ...this.#operands(row), rs1: odd[0] });
    }
  }
}

/** Half-words and words that no row decodes, near real ones as often as not. */
function illegalWord(random: Random): number {
  for (;;) {
    const row = random.pick(ROWS);
    const near = (row.match ^ (1 << random.below(32)) ^ (random.u32() & ~row.mask)) >>> 0;
    const word = random.pick([
      near,
      near,
      random.u32(),
      random.below(0x10000),
      0,
      0x6081,
      0x8002,
      0x4002,
      0x2001,
    ]);
    if (decode(word) === undefined) return (word & 3) === 3 ? word : word & 0xffff;
  }
}

/** Corner values first, random bytes after. */
function dataFor(random: Random): Uint8Array {
  const data = new Uint8Array(DATA_BYTES);
  const view = new DataView(data.buffer);
  for (let at = 0; at < DATA_BYTES; at += 8) {
    const isCorner = at < READ_ONLY_BYTES || random.oneIn(2);
    view.setBigUint64(at, isCorner ? cornerDouble(random) : random.u64(), true);
  }
  for (let at = READ_ONLY_BYTES / 2; at < READ_ONLY_BYTES; at += 4) {
    view.setUint32(at, Number(cornerSingle(random) & 0xffff_ffffn), true);
  }
  return data;
}

export function generateProgram(random: Random, profile: Profile): Program {
  const generator = new Generator(random, profile);
  const pieces = generator.pieces();
  const usesSingles = profile.extensions.includes('f');
  const usesHalves = profile.extensions.includes('zfhmin');
  const corner = (): bigint => {
    if (usesHalves && random.oneIn(4)) return cornerHalf(random);
    return usesSingles && random.oneIn(2) ? cornerSingle(random) : cornerDouble(random);
  };
  const f = Array.from({ length: 32 }, corner);
  return {
    pieces,
    x: Array.from({ length: 32 }, (_unused, n) =>
      n === 0 || n === generator.counter ? 0n : cornerInteger(random),
    ),
    f,
    fcsr: random.below(32) | (random.below(5) << 5),
    pointers: generator.pointers,
    data: dataFor(random),
    rounds: profile.rounds,
  };
}
