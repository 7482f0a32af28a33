// Capsules of strangers as the page reads them: its own unpacking refuses what that of Node does,
// and stops as early.
import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HOST as NODE } from '../../host/capsule.ts';
import { Capsule, FormatError } from '../../run/capsule/index.ts';
import { readZip } from '../../run/capsule/zip.ts';
import { HOST as PAGE } from '../../web/engine/host.ts';
import { sampleFile } from '../run/sample.ts';
import { mutateCapsule, sealed } from '../support/capsule-mutants.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const FILE = sampleFile();
const MUTANTS = 100;

/** 'accepted', or why not. */
function answer(file: Uint8Array, host: typeof NODE): string {
  try {
    Capsule.open(file, host).verify();
    return 'accepted';
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
}

/** A DEFLATE stream of 2 GB of zeros. */
function bomb(): Uint8Array {
  const flush = { level: 9, finishFlush: constants.Z_FULL_FLUSH };
  const block = deflateRawSync(Buffer.alloc(2 ** 25), flush);
  return Buffer.concat([...Array.from({ length: 64 }, () => block), deflateRawSync(Buffer.alloc(0))]);
}

/** The console's part is another stream; all checksums are right. */
function withStream(packed: Uint8Array, size: number): Uint8Array {
  const entries = readZip(FILE, 32).map(entry =>
    entry.name === 'console.txt' ? { ...entry, method: 8 as const, packed, size } : entry,
  );
  const [first, ...rest] = entries;
  const manifest = JSON.parse(new TextDecoder().decode(first!.packed)) as {
    parts: { name: string; bytes: number }[];
    console: { bytes: number };
  };
  manifest.parts.find(({ name }) => name === 'console.txt')!.bytes = size;
  manifest.console.bytes = size;
  const text = new TextEncoder().encode(JSON.stringify(manifest));
  return sealed([{ ...first!, packed: text, size: text.length }, ...rest]);
}

describe('a capsule in the page', () => {
  it('that unpacks to gigabytes is refused in one line, at the first byte too many', () => {
    const packed = bomb();
    for (const size of [0, 100]) {
      const before = process.cpuUsage();
      expect(answer(withStream(packed, size), PAGE)).toMatch(
        size === 0 ? /^is damaged: / : /^is damaged: console\.txt does not unpack to its \d+ bytes$/,
      );
      const { user } = process.cpuUsage(before);
      expect(user / 1e6).toBeLessThan(5); // seconds; all of it takes a minute
    }
  });

  it('with bytes behind the end of a stream is refused, also where all checksums are right', () => {
    const text = Buffer.from('the console of a run\n'.repeat(2000));
    const packed = deflateRawSync(text);
    for (const host of [PAGE, NODE]) {
      const answerTo = (stream: Uint8Array) => host.inflate(stream, text.length);
      expect(text.equals(answerTo(packed)!)).toBe(true);
      for (const more of [1, 2, 100, 40_000])
        expect(answerTo(Buffer.concat([packed, Buffer.alloc(more)])), `${more} bytes`).toBeUndefined();
      expect(answerTo(packed.subarray(0, -1))).toBeUndefined();
      // Streams that end at each bit of a byte.
      for (let n = 1; n < 40; n++) {
        const [bytes, short] = [Buffer.alloc(n, n), deflateRawSync(Buffer.alloc(n, n))];
        expect(bytes.equals(host.inflate(short, n)!)).toBe(true);
        expect(host.inflate(Buffer.concat([short, Buffer.of(0)]), n), `${n}`).toBeUndefined();
      }
    }
    const behind = withStream(Buffer.concat([packed, Buffer.of(0)]), text.length);
    expect(answer(behind, PAGE)).toMatch(/^is damaged: console\.txt does not unpack to its \d+ bytes$/);
    expect(answer(behind, PAGE)).toBe(answer(behind, NODE));
  });

  it('with every length of the container at 0, the largest, or off by one is refused', () => {
    const view = new DataView(FILE.buffer, FILE.byteOffset, FILE.byteLength);
    const end = FILE.length - 22;
    /** Places and bytes of the lengths, counts and offsets of both headers and the last record. */
    const fields: [number, number][] = [8, 10, 20].map(at => [end + at, 2]);
    fields.push([end + 12, 4], [end + 16, 4]);
    let [at, start] = [view.getUint32(end + 16, true), 0];
    for (const { name, packed } of readZip(FILE, 32)) {
      expect(name).toMatch(/^\w+\.\w+$/);
      for (const own of [20, 24, 42]) fields.push([at + own, 4]);
      for (const own of [28, 30, 32]) fields.push([at + own, 2]);
      for (const own of [18, 22]) fields.push([start + own, 4]);
      for (const own of [26, 28]) fields.push([start + own, 2]);
      at += 46 + name.length;
      start += 30 + name.length + packed.length;
    }
    let tried = 0;
    for (const [place, bytes] of fields) {
      const [most, value] =
        bytes === 2 ? [0xffff, view.getUint16(place, true)] : [0xffff_ffff, view.getUint32(place, true)];
      for (const other of [0, most, value + 1, value - 1]) {
        if (other === value || other < 0) continue;
        const copy = FILE.slice();
        for (let i = 0; i < bytes; i++) copy[place + i] = (other >>> (8 * i)) & 255;
        expect(answer(copy, PAGE), `${place}: ${other}`).toMatch(/^is (damaged|not a capsule): [^\n]+$/);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(150);
  });

  it('is refused for the reason that Node has, or by neither', () => {
    const seed = seedFromEnvironment(0x5eed1677);
    const random = new Random(seed);
    const answers = new Set<string>();
    for (let n = 0; n < MUTANTS; n++) {
      const mutant = mutateCapsule(FILE, random);
      const [page, node] = [PAGE, NODE].map(host => answer(mutant, host));
      expect(page, `mutant ${n}, seed ${seedText(seed)}`).toBe(node);
      answers.add(page!);
    }
    expect(answers.size).toBeGreaterThan(20);
    expect([...answers].filter(text => text.includes('\n'))).toEqual([]);
  });
});
