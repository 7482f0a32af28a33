// Images as capsules hold them, kept in the cache: packing a kernel takes longer than a small
// program runs, and all recordings of programs on one kernel hold the same bytes.
//
// A file is a line of JSON, then the packed bytes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, PACKING, pack } from '../run/capsule/index.ts';
import { cacheDir, markUsed, sha256, writeWhole } from '../toolchain/index.ts';

/** Smaller parts are packed each time. */
const MIN = 1 << 16;
const LF = 10;

interface Header {
  readonly packing: string;
  readonly size: number;
  readonly crc: number;
  readonly method: Entry['method'];
  /** Of the packed bytes. */
  readonly sha256: string;
}

const pathOf = (hash: string): string => join(cacheDir(), 'packed', hash);

/** Undefined where it is not there, damaged, or made by another compressor. */
function find(name: string, body: Uint8Array, hash: string): Entry | undefined {
  try {
    const file = readFileSync(pathOf(hash));
    const end = file.indexOf(LF);
    const header = JSON.parse(file.toString('latin1', 0, end)) as Header;
    const packed = file.subarray(end + 1);
    const isOurs = header.packing === PACKING && header.size === body.length && header.method === 8;
    if (!isOurs || sha256(packed) !== header.sha256) return undefined;
    markUsed(pathOf(hash));
    return { name, size: body.length, crc: header.crc, method: header.method, packed };
  } catch {
    return undefined;
  }
}

/** `pack` for a part of a capsule whose contents have this hash. */
export function packKept(name: string, body: Uint8Array, hash: string): Entry {
  if (body.length < MIN) return pack(name, body);
  const known = find(name, body, hash);
  if (known) return known;
  const entry = pack(name, body);
  const { size, crc, method, packed } = entry;
  const header: Header = { packing: PACKING, size, crc, method, sha256: sha256(packed) };
  try {
    writeWhole(pathOf(hash), Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`, 'latin1'), packed]));
  } catch {} // packed again next time
  return entry;
}
