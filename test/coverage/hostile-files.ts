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
