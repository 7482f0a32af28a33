/**
 * Call frame information (DWARF 5 §6.4): from the registers of a function to those of its caller.
 * Reads `.debug_frame` and `.eh_frame` as compilers for RISC-V write them.
 */
import { type Addr, addrOf, Cursor, upperBound } from '../base/bytes.ts';
import type { Elf } from '../elf/elf.ts';

/** Registers by DWARF number; absent: unknown. */
export type Registers = ReadonlyMap<number, bigint>;

interface Cie {
  readonly codeAlign: number;
  readonly dataAlign: number;
  readonly returns: number;
  readonly initial: Cursor;
  /** Encoding of the addresses in .eh_frame. */
  readonly encoding: number;
  readonly hasAugmentation: boolean;
}

interface Fde {
  readonly low: Addr;
  readonly high: Addr;
  readonly cie: Cie;
  readonly from: number;
  readonly to: number;
  readonly section: Frames;
}

interface Frames {
  readonly bytes: Uint8Array;
  readonly addr: Addr;
  readonly isEh: boolean;
}

type Rule =
  | { readonly kind: 'offset' | 'value'; readonly n: number }
  | { readonly kind: 'register'; readonly n: number }
  | 'undefined';

interface Row {
  cfa: { readonly register: number; readonly offset: number } | undefined;
  rules: Map<number, Rule>;
}

const SP = 2;
/** Instructions up to one row. */
const STEPS_MAX = 20_000;
/** Registers of one row; there are 64 and the vector registers. */
const RULES_MAX = 128;

export class CallFrames {
  readonly #fdes: Fde[] = [];

  constructor(elf: Elf) {
    for (const [name, isEh] of [
      ['.debug_frame', false],
      ['.eh_frame', true],
    ] as const) {
      const section = elf.section(name);
      if (section) this.#read({ bytes: elf.data(section), addr: section.addr, isEh });
    }
    this.#fdes.sort((a, b) => a.low - b.low);
  }

  /**
   * The caller's registers and the canonical frame address of the function around `pc`; undefined
   * where nothing describes it. The caller's pc is the value of its return register.
   */
  unwind(
    pc: bigint,
    registers: Registers,
    memory: (va: bigint, bytes: number) => Uint8Array | undefined,
  ):
    | { readonly cfa: bigint; readonly caller: Map<number, bigint>; readonly returns: bigint | undefined }
    | undefined {
    const fde = this.#fdeAt(addrOf(pc));
    if (!fde) return undefined;
    const row = this.#row(fde, addrOf(pc));
    const base = row?.cfa && registers.get(row.cfa.register);
    if (!row?.cfa || base === undefined) return undefined;
    const cfa = BigInt.asUintN(64, base + BigInt(row.cfa.offset));
    const caller = new Map(registers);
    for (const [register, rule] of row.rules) {
      if (rule === 'undefined') caller.delete(register);
      else if (rule.kind === 'register') set(caller, register, registers.get(rule.n));
      else if (rule.kind === 'value') caller.set(register, BigInt.asUintN(64, cfa + BigInt(rule.n)));
      else {
        const bytes = memory(BigInt.asUintN(64, cfa + BigInt(rule.n)), 8);
        const word =
          bytes?.length === 8
            ? new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)
            : undefined;
        set(caller, register, word);
      }
    }
    const returns = caller.get(fde.cie.returns);
    caller.set(SP, cfa);
    return { cfa, caller, returns: row.rules.get(fde.cie.returns) === 'undefined' ? undefined : returns };
  }

  /** The register from which the canonical frame address follows; undefined: nothing says it. */
  cfaRegister(pc: bigint): number | undefined {
    const fde = this.#fdeAt(addrOf(pc));
    return fde && this.#row(fde, addrOf(pc))?.cfa?.register;
  }

  #fdeAt(at: Addr): Fde | undefined {
    const fde = this.#fdes[upperBound(this.#fdes.length, at, i => this.#fdes[i]!.low) - 1];
    return fde && at < fde.high ? fde : undefined;
  }

  #row(fde: Fde, pc: Addr): Row | undefined {
    const row: Row = { cfa: undefined, rules: new Map() };
    const { initial } = fde.cie;
    const first = new Cursor(initial.bytes, initial.what, initial.at, initial.end);
    if (!execute(first, fde, Infinity, row, row)) return undefined;
    const start: Row = { cfa: row.cfa, rules: new Map(row.rules) };
    const cursor = new Cursor(fde.section.bytes, 'call frames', fde.from, fde.to);
    return execute(cursor, fde, pc, row, start) ? row : undefined;
  }

  #read(section: Frames): void {
    const cursor = new Cursor(section.bytes, 'call frames');
    const cies = new Map<number, Cie | undefined>();
    while (cursor.at + 4 <= cursor.bytes.length) {
      const start = cursor.at;
      const size = cursor.u32();
      if (size === 0) continue;
      if (size === 0xffffffff) return; // 64-bit DWARF of this section does not occur for RISC-V
      const end = cursor.at + size;
      if (end > cursor.bytes.length) return;
      const idAt = cursor.at;
      const id = cursor.u32();
      const isCie = section.isEh ? id === 0 : id === 0xffffffff;
      if (isCie) cies.set(start, readCie(new Cursor(section.bytes, 'call frames', cursor.at, end), section));
      else {
        const cie = cies.get(section.isEh ? idAt - id : id);
        if (cie) this.#readFde(new Cursor(section.bytes, 'call frames', cursor.at, end), cie, section);
      }
      cursor.seek(end);
    }
  }

  #readFde(cursor: Cursor, cie: Cie, section: Frames): void {
    let low: Addr;
    let size: number;
    if (section.isEh) {
      const at = cursor.at;
      const value = pointer(cursor, cie.encoding & 0x0f);
      low = (cie.encoding & 0x70) === 0x10 ? section.addr + at + value : value;
      size = pointer(cursor, cie.encoding & 0x0f & ~8);
      if (cie.hasAugmentation) cursor.take(cursor.uleb());
    } else {
      low = cursor.addr();
      size = cursor.u64();
    }
    this.#fdes.push({ low, high: low + size, cie, from: cursor.at, to: cursor.end, section });
  }
}

const set = (map: Map<number, bigint>, key: number, value: bigint | undefined): void => {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
};

function pointer(cursor: Cursor, format: number): number {
  switch (format) {
    case 0x02:
      return cursor.u16();
    case 0x03:
      return cursor.u32();
    case 0x0a:
      return (cursor.u16() << 16) >> 16;
    case 0x0b:
      return cursor.u32() | 0;
    default:
      return cursor.addr();
  }
}

function readCie(cursor: Cursor, { isEh }: Frames): Cie | undefined {
  const version = cursor.u8();
  const augmentation = cursor.string();
  if (!isEh && version >= 4) cursor.take(2);
  const codeAlign = cursor.uleb();
  const dataAlign = cursor.sleb();
  const returns = version === 1 ? cursor.u8() : cursor.uleb();
  let encoding = 0;
  const hasAugmentation = augmentation.startsWith('z');
  if (hasAugmentation) {
    const end = cursor.uleb() + cursor.at;
    for (const letter of augmentation.slice(1)) {
      if (letter === 'R') encoding = cursor.u8();
      else if (letter === 'L') cursor.u8();
      else if (letter === 'P') pointer(cursor, cursor.u8() & 0x0f);
      else if (letter !== 'S') break;
    }
    cursor.seek(end);
  } else if (augmentation !== '') return undefined;
  return { codeAlign, dataAlign, returns, initial: cursor, encoding, hasAugmentation };
}

/** Executes instructions up to the row of `pc`. False: one is not known. */
function execute(cursor: Cursor, fde: Fde, pc: Addr, row: Row, start: Row): boolean {
  const { codeAlign, dataAlign } = fde.cie;
  const saved: Row[] = [];
  let at = fde.low;
  const offset = (register: number, n: number): void => {
    row.rules.set(register, { kind: 'offset', n });
  };
  for (let steps = 0; cursor.at < cursor.end; steps++) {
    if (steps > STEPS_MAX || row.rules.size > RULES_MAX) return false;
    const op = cursor.u8();
    const low = op & 0x3f;
    let delta = 0;
    switch (op >> 6) {
      case 1:
        delta = low;
        break;
      case 2:
        offset(low, cursor.uleb() * dataAlign);
        continue;
      case 3:
        restore(row, start, low);
        continue;
    }
    if (op >> 6 === 0)
      switch (low) {
        case 0x00:
          continue;
        case 0x01:
          at = cursor.addr();
          if (at > pc) return true;
          continue;
        case 0x02:
          delta = cursor.u8();
          break;
        case 0x03:
          delta = cursor.u16();
          break;
        case 0x04:
          delta = cursor.u32();
          break;
        case 0x05:
          offset(cursor.uleb(), cursor.uleb() * dataAlign);
          continue;
        case 0x06:
          restore(row, start, cursor.uleb());
          continue;
        case 0x07:
          row.rules.set(cursor.uleb(), 'undefined');
          continue;
        case 0x08:
          row.rules.delete(cursor.uleb());
          continue;
        case 0x09:
          row.rules.set(cursor.uleb(), { kind: 'register', n: cursor.uleb() });
          continue;
        case 0x0a:
          if (saved.length > 64) return false;
          saved.push({ cfa: row.cfa, rules: new Map(row.rules) });
          continue;
        case 0x0b: {
          const top = saved.pop();
          if (!top) return false;
          row.cfa = top.cfa;
          row.rules = top.rules;
          continue;
        }
        case 0x0c:
          row.cfa = { register: cursor.uleb(), offset: cursor.uleb() };
          continue;
        case 0x0d:
          row.cfa = { register: cursor.uleb(), offset: row.cfa?.offset ?? 0 };
          continue;
        case 0x0e:
          row.cfa = { register: row.cfa?.register ?? SP, offset: cursor.uleb() };
          continue;
        case 0x11:
          offset(cursor.uleb(), cursor.sleb() * dataAlign);
          continue;
        case 0x12:
          row.cfa = { register: cursor.uleb(), offset: cursor.sleb() * dataAlign };
          continue;
        case 0x13:
          row.cfa = { register: row.cfa?.register ?? SP, offset: cursor.sleb() * dataAlign };
          continue;
        case 0x14:
          row.rules.set(cursor.uleb(), { kind: 'value', n: cursor.uleb() * dataAlign });
          continue;
        default:
          return false;
      }
    at += delta * codeAlign;
    if (at > pc) return true;
  }
  return true;
}

function restore(row: Row, start: Row, register: number): void {
  const rule = start.rules.get(register);
  if (rule === undefined) row.rules.delete(register);
  else row.rules.set(register, rule);
}
