// The container of a capsule: a ZIP archive in which every byte of the structure is determined.
// Any tool opens it. The reader accepts exactly what the writer makes: the entries one behind the
// other from byte 0, each with one header of one shape, then the directory, then its end record.
// So no two tools can see different contents in one file, and no byte is without a meaning.
// APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.16 (end).
//
// Packing is done in JavaScript, so that a capsule has the same bytes whatever zlib the host has.
// Unpacking has one right answer: the host does it.
import { deflateSync } from 'fflate/browser'; // the other one loads threads of Node
import { FormatError } from '../format-error.ts';

/** One file of the archive, as it is stored. */
export interface Entry {
  readonly name: string;
  /** Contents, in bytes. */
  readonly size: number;
  readonly crc: number;
  /** The contents as they are, or a DEFLATE stream. */
  readonly method: 0 | 8;
  readonly packed: Uint8Array;
}

/**
 * Unpacks a DEFLATE stream of exactly `size` bytes; undefined when it is damaged, makes more or
 * fewer, or ends before the last byte of `packed`. Must stop as soon as there is one byte too many.
 */
export type Inflate = (packed: Uint8Array, size: number) => Uint8Array | undefined;

const LOCAL = 0x0403_4b50;
const CENTRAL = 0x0201_4b50;
const END = 0x0605_4b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
/** 2.0: the first that knows DEFLATE. */
const VERSION = 20;
/** 1 January 1980, 00:00: the first date that a ZIP archive can hold. */
const DATE = 0x21;
/** DEFLATE makes at most 258 bytes of two bits. */
const RATIO_MAX = 1032;
/** Names are words of ours. */
const NAME_MAX = 32;
/** Effort and window of the compressor: fixed, because the bytes of a capsule follow from them. */
const DEFLATE = { level: 6, mem: 8 } as const;
/** Names what `pack` makes of some bytes; changes with the compressor and its options. */
export const PACKING = `fflate 0.8.3 ${JSON.stringify(DEFLATE)}`;

const CRC = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb8_8320 : c >>> 1;
  return c;
});

function crc32(bytes: Uint8Array): number {
  let c = -1;
  for (let i = 0; i < bytes.length; i++) c = CRC[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** `isPlain`: not compressed, so that the file can be read without a tool. */
export function pack(name: string, bytes: Uint8Array, isPlain = false): Entry {
  const packed = isPlain ? bytes : deflateSync(bytes, DEFLATE);
  return { name, size: bytes.length, crc: crc32(bytes), method: isPlain ? 0 : 8, packed };
}

/** Numbers of two or four bytes, low byte first. */
function record(...fields: readonly (readonly [value: number, bytes: 2 | 4])[]): Uint8Array {
  const out = new Uint8Array(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of fields) for (let i = 0; i < bytes; i++) out[at++] = (value >>> (8 * i)) & 255;
  return out;
}

/**
 * The common part of both headers of an entry: from the version to the length of the extra field.
 */
const common = ({ name, size, crc, method, packed }: Entry): [number, 2 | 4][] => [
  [VERSION, 2],
  [0, 2], // flags
  [method, 2],
  [0, 2], // time
  [DATE, 2],
  [crc, 4],
  [packed.length, 4],
  [size, 4],
  [name.length, 2],
  [0, 2], // extra field
];

const localHeader = (entry: Entry): Uint8Array => record([LOCAL, 4], ...common(entry));

const centralHeader = (entry: Entry, at: number): Uint8Array =>
  record(
    [CENTRAL, 4],
    [VERSION, 2], // made by
    ...common(entry),
    [0, 2], // comment
    [0, 2], // disk
    [0, 2], // internal attributes
    [0, 4], // external attributes
    [at, 4],
  );

const endRecord = (count: number, at: number, bytes: number): Uint8Array =>
  record([END, 4], [0, 2], [0, 2], [count, 2], [count, 2], [bytes, 4], [at, 4], [0, 2]);

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The archive. Precondition: names are ASCII and different, and all of it is below 4 GiB. */
export function writeZip(entries: readonly Entry[]): Uint8Array {
  const front: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const entry of entries) {
    front.push(localHeader(entry), encode(entry.name), entry.packed);
    directory.push(centralHeader(entry, at), encode(entry.name));
    at += LOCAL_BYTES + entry.name.length + entry.packed.length;
  }
  const bytes = directory.reduce((sum, { length }) => sum + length, 0);
  const chunks = [...front, ...directory, endRecord(entries.length, at, bytes)];
  const file = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const chunk of chunks) {
    file.set(chunk, filled);
    filled += chunk.length;
  }
  return file;
}

/**
 * Of an archive that `readZip` accepts or `writeZip` made: all parts but the first, with their own
 * headers.
 */
export function bytesBehindFirst(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const first = LOCAL_BYTES + view.getUint32(18, true) + view.getUint16(26, true);
  return file.subarray(first, view.getUint32(file.length - END_BYTES + 16, true));
}

function damaged(why: string): never {
  throw new FormatError(`is damaged: ${why}`);
}

/** Do the bytes at `at` equal `wanted`? */
const isAt = (file: Uint8Array, at: number, wanted: Uint8Array): boolean =>
  wanted.every((byte, i) => file[at + i] === byte);

/**
 * The entries, whose `packed` are views of `file`; nothing is unpacked. At most `max` entries.
 * Errors: FormatError for whatever `writeZip` would not have written.
 */
export function readZip(file: Uint8Array, max: number): Entry[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = file.length - END_BYTES;
  if (end < 0 || view.getUint32(end, true) !== END) damaged('its end is missing');
  const count = view.getUint16(end + 8, true);
  const directory = view.getUint32(end + 16, true);
  if (directory > end || !isAt(file, end, endRecord(count, directory, end - directory)))
    damaged('its last record does not describe it');
  if (count > max) damaged(`it has ${count} parts; at most ${max} are possible`);
  const entries: Entry[] = [];
  let at = directory;
  let next = 0;
  for (let i = 0; i < count; i++) {
    const entry = readEntry(file, view, at, next, directory);
    entries.push(entry);
    at += CENTRAL_BYTES + entry.name.length;
    next += LOCAL_BYTES + entry.name.length + entry.packed.length;
  }
  if (at !== end || next !== directory) damaged('it has bytes that belong to no part');
  return entries;
}

/**
 * The entry whose header in the directory is at `at`, and whose own is at `start`; it ends before
 * `limit`.
 */
function readEntry(file: Uint8Array, view: DataView, at: number, start: number, limit: number): Entry {
  if (at + CENTRAL_BYTES > file.length - END_BYTES) damaged('its directory is cut off');
  const method = view.getUint16(at + 10, true);
  const packedBytes = view.getUint32(at + 20, true);
  const size = view.getUint32(at + 24, true);
  const nameBytes = view.getUint16(at + 28, true);
  const from = start + LOCAL_BYTES + nameBytes;
  if (nameBytes > NAME_MAX || from + packedBytes > limit) damaged('a part reaches beyond its end');
  if (method !== 0 && method !== 8) damaged(`a part is packed with method ${method}`);
  const name = String.fromCharCode(...file.subarray(start + LOCAL_BYTES, from));
  const packed = file.subarray(from, from + packedBytes);
  const crc = view.getUint32(at + 16, true);
  const entry: Entry = { name, size, crc, method: method === 0 ? 0 : 8, packed };
  const hasHeaders =
    isAt(file, at, centralHeader(entry, start)) &&
    isAt(file, start, localHeader(entry)) &&
    isAt(file, at + CENTRAL_BYTES, file.subarray(start + LOCAL_BYTES, from));
  if (!hasHeaders) damaged('the two headers of a part differ, or are of a foreign tool');
  if (method === 0 ? size !== packedBytes : size > RATIO_MAX * packedBytes)
    damaged(`a part of ${packedBytes} bytes cannot hold ${size}`);
  return entry;
}

/**
 * The contents of an entry. Errors: FormatError when it does not unpack to `entry.size` bytes with
 * the checksum.
 */
export function unpack(entry: Entry, inflate: Inflate): Uint8Array {
  const { name, size, crc, method, packed } = entry;
  const bytes = method === 0 ? packed : inflate(packed, size);
  if (bytes === undefined) damaged(`${name} does not unpack to its ${size} bytes`);
  if (crc32(bytes) !== crc) damaged(`the checksum of ${name} is wrong`);
  return bytes;
}
