// The instructions of a function body as text, one per line and indented by block: what golden
// tests compare. Names of instructions without immediates come from the writer itself, so the two
// cannot disagree.

import { CodeWriter } from '../../emulator/wasm/module.ts';
import { NumericWriter } from '../../emulator/wasm/numeric-writer.ts';

/** The operands of an opcode. */
type Immediates =
  | 'none'
  | 'block'
  | 'index'
  | 'two'
  | 'memory'
  | 'table'
  | 'i32'
  | 'i64'
  | 'f32'
  | 'f64'
  | 'lane';

interface Known {
  readonly name: string;
  readonly immediates: Immediates;
}

const byCode = new Map<number, Known>();

/** f64_add -> f64.add, local_get -> local.get, br_if and call_indirect stay. */
const nameOf = (method: string): string =>
  method.replace(/_$/, '').replace(/^([if]\d+(x\d)?|local|global|memory)_/, '$1.');

for (const [first, method, immediates] of [
  [0x00, 'unreachable', 'none'],
  [0x01, 'nop', 'none'],
  [0x02, 'block', 'block'],
  [0x03, 'loop', 'block'],
  [0x04, 'if', 'block'],
  [0x05, 'else', 'none'],
  [0x0b, 'end', 'none'],
  [0x0c, 'br', 'index'],
  [0x0d, 'br_if', 'index'],
  [0x0e, 'br_table', 'table'],
  [0x0f, 'return', 'none'],
  [0x10, 'call', 'index'],
  [0x11, 'call_indirect', 'two'],
  [0x12, 'return_call', 'index'],
  [0x13, 'return_call_indirect', 'two'],
  [0x1a, 'drop', 'none'],
  [0x1b, 'select', 'none'],
  [0x20, 'local.get', 'index'],
  [0x21, 'local.set', 'index'],
  [0x22, 'local.tee', 'index'],
  [0x23, 'global.get', 'index'],
  [0x24, 'global.set', 'index'],
  [0x41, 'i32.const', 'i32'],
  [0x42, 'i64.const', 'i64'],
  [0x43, 'f32.const', 'f32'],
  [0x44, 'f64.const', 'f64'],
] as const)
  byCode.set(first, { name: method, immediates });

/** The code of an instruction: its byte, or prefix and number. */
const codeOf = (prefix: number, number: number): number => prefix * 0x1_0000 + number;

class Reader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  byte(): number {
    return this.bytes[this.at++]!;
  }

  unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  signed(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(Number(shift) + 7, value);
    }
  }

  float(bytes: 4 | 8): number {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, bytes);
    this.at += bytes;
    return bytes === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }

  code(): number {
    const byte = this.byte();
    return byte === 0xfc || byte === 0xfd ? codeOf(byte, this.unsigned()) : byte;
  }
}

/** Asks the writers what they write for every method that takes nothing. */
function learn(): void {
  for (const method of Object.getOwnPropertyNames(NumericWriter.prototype)) {
    if (!/^[if]\d+(x\d)?_/.test(method)) continue;
    const c = new CodeWriter();
    (c as unknown as Record<string, (lane: number) => void>)[method]!(0);
    const code = new Reader(c.view()).code();
    byCode.set(code, { name: nameOf(method), immediates: method.includes('extract_lane') ? 'lane' : 'none' });
  }
  for (const method of Object.getOwnPropertyNames(CodeWriter.prototype)) {
    if (!/^[if]\d+_(load|store)/.test(method)) continue;
    const c = new CodeWriter();
    (c as unknown as Record<string, () => void>)[method]!();
    byCode.set(c.view()[0]!, { name: nameOf(method), immediates: 'memory' });
  }
}
learn();

const TYPES: Readonly<Record<number, string>> = {
  64: '',
  127: ' i32',
  126: ' i64',
  125: ' f32',
  124: ' f64',
};

function immediatesText(r: Reader, kind: Immediates): string {
  switch (kind) {
    case 'none':
      return '';
    case 'block':
      return TYPES[r.byte()] ?? ' ?';
    case 'index':
    case 'lane':
      return ` ${r.unsigned()}`;
    case 'two':
      return ` ${r.unsigned()} ${r.unsigned()}`;
    case 'memory': {
      r.byte(); // the alignment is only a hint
      const offset = r.unsigned();
      return offset === 0 ? '' : ` 0x${offset.toString(16)}`;
    }
    case 'table': {
      const count = r.unsigned() + 1;
      return ` ${Array.from({ length: count }, () => r.unsigned()).join(' ')}`;
    }
    case 'i32':
    case 'i64': {
      const value = r.signed();
      const magnitude = value < 0n ? -value : value;
      return magnitude < 0x1_0000n ? ` ${value}` : ` ${value < 0n ? '-' : ''}0x${magnitude.toString(16)}`;
    }
    case 'f32':
      return ` ${r.float(4)}`;
    case 'f64':
      return ` ${r.float(8)}`;
  }
}

/** The text of the code written so far. */
export function wasmText(bytes: Uint8Array): string {
  const r = new Reader(bytes);
  const lines: string[] = [];
  let depth = 0;
  while (r.at < bytes.length) {
    const code = r.code();
    const known = byCode.get(code);
    if (!known) throw new Error(`no name for the instruction 0x${code.toString(16)} at byte ${r.at}`);
    if (known.name === 'end' || known.name === 'else') depth--;
    lines.push(`${'  '.repeat(depth)}${known.name}${immediatesText(r, known.immediates)}`);
    if (known.immediates === 'block' || known.name === 'else') depth++;
  }
  return `${lines.join('\n')}\n`;
}
