/** Trace files with damaged content and a right checksum, which alone would refuse them. */
import { crc32 } from '../../coverage/trace/file.ts';
import type { Random } from '../support/random.ts';

export interface Block {
  tag: string;
  payload: Uint8Array;
}

/** The blocks of a trace file, the end block included. */
export function blocksOf(file: Uint8Array): Block[] {
  const view = new DataView(file.buffer, file.byteOffset);
  const blocks: Block[] = [];
  for (let at = 8; at < file.length; ) {
    const size = view.getUint32(at + 1, true);
    blocks.push({ tag: String.fromCharCode(file[at]!), payload: file.slice(at + 5, at + 5 + size) });
    at += 5 + size;
  }
  return blocks;
}

/** A file of these blocks with an end block whose totals and checksum are right. */
export function fileOf(blocks: readonly Block[], records: number, cmps: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let crc = 0;
  for (const { tag, payload } of blocks) {
    const part = new Uint8Array(5 + payload.length);
    part[0] = tag.charCodeAt(0);
    new DataView(part.buffer).setUint32(1, payload.length, true);
    part.set(payload, 5);
    crc = crc32(part, crc);
    parts.push(part);
  }
  const end = Buffer.from(JSON.stringify({ records, cmps, crc }));
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32LE(end.length, 1);
  return new Uint8Array(Buffer.concat([Buffer.from('KCOVTRC1'), ...parts, head, end]));
}

const BAD_BYTES = [0, 1, 0x7f, 0x80, 0xff];

/** A byte of those that break things, or any. */
export const badByte = (random: Random): number =>
  BAD_BYTES[random.below(BAD_BYTES.length + 1)] ?? random.below(256);

/** One to three changes: bytes, a shorter block, a block less, a block twice. */
export function mutate(blocks: readonly Block[], random: Random): Block[] {
  const mutated = blocks.map(({ tag, payload }) => ({ tag, payload: payload.slice() }));
  for (let n = 1 + random.below(3); n > 0 && mutated.length > 0; n--) {
    const at = random.below(mutated.length);
    const { payload } = mutated[at]!;
    const how = random.below(6);
    if (how < 3 && payload.length > 0) payload[random.below(payload.length)] = badByte(random);
    else if (how === 3) mutated[at]!.payload = payload.slice(0, random.below(payload.length + 1));
    else if (how === 4) mutated.splice(at, 1);
    else mutated.splice(at, 0, mutated[random.below(mutated.length)]!);
  }
  return mutated;
}

/** Values of JSON where others are expected. */
const ODD_VALUES: readonly unknown[] = [
  null, true, -1, 0, 1.5, 2 ** 31, 2 ** 53, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 1e308,
  '', 'x', '0x', '0xffffffffffffffff', '\x1b[31m', '\ud800', 'remote', [], [[[]]], {}, { length: 5 },
  { toString: 1, valueOf: 1 },
]; // biome-ignore format: a list

const ODD_NUMBERS = [0, 1, 127, 128, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 56, 2 ** 69];

/** A part of a value of JSON replaced, removed, repeated or added. */
function forgedValue(value: unknown, random: Random): unknown {
  const odd = () => ODD_VALUES[random.below(ODD_VALUES.length)];
  if (value === null || typeof value !== 'object' || random.below(4) === 0) return odd();
  if (Array.isArray(value)) {
    if (value.length === 0) return odd();
    const at = random.below(value.length);
    const how = random.below(4);
    if (how === 0) return value.toSpliced(at, 1);
    return how === 1 ? [...value, value[at]] : value.with(at, forgedValue(value[at], random));
  }
  const names = [...Object.keys(value), '__proto__', 'flow', 'filtered', 'unique', 'more'];
  const name = names[random.below(names.length)]!;
  const rest = Object.entries(value).filter(([key]) => key !== name);
  const old = (value as Record<string, unknown>)[name] ?? null;
  return Object.fromEntries(random.below(5) === 0 ? rest : [...rest, [name, forgedValue(old, random)]]);
}

/** The bytes with a number in place of up to two of them. */
function forgedBytes(payload: Uint8Array, random: Random): Uint8Array {
  const number: number[] = [];
  let value = ODD_NUMBERS[random.below(ODD_NUMBERS.length)]!;
  for (; value >= 128; value = Math.floor(value / 128)) number.push((value % 128) | 128);
  const at = random.below(payload.length + 1);
  return Uint8Array.from([...payload.slice(0, at), ...number, value, ...payload.slice(at + random.below(3))]);
}

/** One or two changes that keep the shape: values of JSON, numbers. */
export function forge(blocks: readonly Block[], random: Random): Block[] {
  const forged = [...blocks];
  for (let n = 1 + random.below(2); n > 0; n--) {
    const at = random.below(forged.length);
    const { tag, payload } = forged[at]!;
    const text = new TextDecoder().decode(payload);
    forged[at] = {
      tag,
      payload: 'HSF'.includes(tag)
        ? new TextEncoder().encode(JSON.stringify(forgedValue(JSON.parse(text), random)))
        : forgedBytes(payload, random),
    };
  }
  return forged;
}
