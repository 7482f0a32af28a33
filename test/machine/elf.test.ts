// The ELF loader: the placement of segments, and the errors for broken files.
import { describe, expect, it } from 'vitest';
import { HostError, Machine } from '../../emulator/index.ts';
import { physical, readElf } from '../../emulator/machine/elf.ts';

interface Segment {
  vaddr: bigint;
  paddr?: bigint;
  data: Uint8Array;
  memBytes?: bigint;
  offset?: bigint;
  fileBytes?: bigint;
}

/** A minimal ELF file. */
function elf(segments: Segment[], entry = 0x8000_0000n, patch: (v: DataView) => void = () => {}): Uint8Array {
  const head = 64 + 56 * segments.length;
  const total = segments.reduce((n, s) => n + s.data.length, head);
  const file = new Uint8Array(total);
  const v = new DataView(file.buffer);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  v.setUint16(16, 2, true);
  v.setUint16(18, 243, true);
  v.setBigUint64(24, entry, true);
  v.setBigUint64(32, 64n, true);
  v.setUint16(54, 56, true);
  v.setUint16(56, segments.length, true);
  let at = head;
  segments.forEach((s, i) => {
    const p = 64 + 56 * i;
    v.setUint32(p, 1, true);
    v.setBigUint64(p + 8, s.offset ?? BigInt(at), true);
    v.setBigUint64(p + 16, s.vaddr, true);
    v.setBigUint64(p + 24, s.paddr ?? s.vaddr, true);
    v.setBigUint64(p + 32, s.fileBytes ?? BigInt(s.data.length), true);
    v.setBigUint64(p + 40, s.memBytes ?? BigInt(s.data.length), true);
    file.set(s.data, at);
    at += s.data.length;
  });
  patch(v);
  return file;
}

const BASE = 0x8000_0000n;
const code = { vaddr: BASE, data: Uint8Array.of(0x6f, 0, 0, 0) };
const GOOD = elf([code]);

/** The message with which a machine refuses the file. */
function refusal(bytes: Uint8Array): string {
  try {
    Machine.create({ kernel: { name: 'k.elf', bytes }, bios: 'none', ramBytes: 4 << 20, engine: 'interp' });
  } catch (e) {
    expect(e).toBeInstanceOf(HostError);
    return (e as Error).message;
  }
  return 'accepted';
}

describe('elf loader', () => {
  it('loads segments to their physical addresses and clears the rest', () => {
    const high = 0xffff_ffff_8020_0000n;
    const file = elf(
      [{ vaddr: high, paddr: 0x8020_0000n, data: Uint8Array.of(1, 2, 3), memBytes: 16n }],
      high + 2n,
    );
    const read = readElf(file, 'k');
    expect(read.segments.map(s => [s.paddr, s.data.length, s.memBytes])).toEqual([[0x8020_0000n, 3, 16]]);
    expect(physical(read, read.entry)).toBe(0x8020_0002n);
  });

  it('accepts what is well-formed', () => {
    expect(refusal(GOOD)).toBe('accepted');
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['no bytes', new Uint8Array(0), /is empty/],
    ['text', new TextEncoder().encode('hello, this is no program'), /neither an ELF file nor a Linux Image/],
    ['only the magic', GOOD.slice(0, 4), /truncated: 4 bytes/],
    ['half a header', GOOD.slice(0, 63), /truncated: 63 bytes/],
    ['no segment headers', GOOD.slice(0, 64), /program headers end after the file/],
    ['a cut segment', GOOD.slice(0, GOOD.length - 1), /segment 0 ends after the file/],
    ['32 bits', elf([code], BASE, v => v.setUint8(4, 1)), /32-bit/],
    ['big-endian', elf([code], BASE, v => v.setUint8(5, 2)), /big-endian/],
    ['x86-64', elf([code], BASE, v => v.setUint16(18, 62, true)), /machine 62 \(x86-64\), riscv wanted/],
    ['an object file', elf([code], BASE, v => v.setUint16(16, 1, true)), /object file/],
    ['a core file', elf([code], BASE, v => v.setUint16(16, 4, true)), /elf type 4/],
    ['no segments', elf([]), /no program headers/],
    ['odd header size', elf([code], BASE, v => v.setUint16(54, 57, true)), /57 bytes, 56 wanted/],
    ['65535 headers', elf([code], BASE, v => v.setUint16(56, 65535, true)), /program headers end after/],
    [
      'headers at 2^64 - 1',
      elf([code], BASE, v => v.setBigUint64(32, 2n ** 64n - 1n, true)),
      /headers end after/,
    ],
    ['contents at 2^64 - 2', elf([{ ...code, offset: 2n ** 64n - 2n }]), /segment 0 ends after the file/],
    [
      'contents of 2^63 bytes',
      elf([{ ...code, fileBytes: 2n ** 63n, memBytes: 2n ** 63n }]),
      /ends after the file/,
    ],
    ['memory of 2^62 bytes', elf([{ ...code, memBytes: 2n ** 62n }]), /more than any guest memory/],
    ['memory smaller than file', elf([{ ...code, memBytes: 2n }]), /4 bytes in the file but 2 in memory/],
    ['more memory than ram', elf([{ ...code, memBytes: 5n << 20n }]), /outside guest ram/],
    [
      'entry in a segment below ram',
      elf([{ ...code, vaddr: 0x7fff_0000n }], 0x7fff_0000n),
      /entry .* outside/,
    ],
    [
      '65,535 segments over one another',
      elf(Array.from({ length: 65_535 }, () => ({ ...code, memBytes: 4n << 20n }))),
      /its segments overlap: they have 274873712640 bytes in all, guest ram has 4194304/,
    ],
    ['a segment at 2^64 - 4', elf([{ ...code, vaddr: 2n ** 64n - 4n }]), /outside guest ram/],
    ['a segment over a device', elf([{ ...code, vaddr: 0x1000_0000n }]), /lies over the device uart/],
    ['entry outside ram', elf([code], 0x1000n), /entry 0x1000 is outside/],
    ['a gzip file', Uint8Array.of(0x1f, 0x8b, 8, 0), /compressed with gzip/],
  ])('refuses %s in one line', (_, bytes, message) => {
    const said = refusal(bytes);
    expect(said).toMatch(message);
    expect(said).toMatch(/^k\.elf(:| is) /);
    expect(said).not.toContain('\n');
  });

  it('drops what lies in a hole below ram, as QEMU does', () => {
    const headers = { vaddr: BASE - 0x1000n, data: new Uint8Array(0x1000).fill(7) };
    const straddling = { vaddr: BASE - 2n, data: Uint8Array.of(1, 2, 0x6f, 0, 0, 0) };
    for (const segments of [[headers, code], [straddling], [{ ...headers, vaddr: 0x1_0000n }, code]]) {
      const bytes = elf(segments);
      const kernel = { name: 'k.elf', bytes };
      const machine = Machine.create({ kernel, bios: 'none', ramBytes: 4 << 20, engine: 'interp' });
      expect([...machine.ram.data.subarray(0, 5)]).toEqual([0x6f, 0, 0, 0, 0]);
    }
  });

  it('reads names that never end, and tables that are named often, in bounded time and memory', () => {
    const count = 60_000;
    const names = 64 + 56 + 4;
    const symbols = names + (1 << 20);
    const headers = symbols + 24 * count;
    const file = new Uint8Array(headers + 64 * 65_535);
    file.set(GOOD);
    file.fill(0x61, names, symbols); // one name of a MiB without an end
    const v = new DataView(file.buffer);
    v.setBigUint64(40, BigInt(headers), true);
    v.setUint16(58, 64, true);
    v.setUint16(60, 65_535, true);
    for (let i = 0; i < count; i++) v.setUint32(symbols + 24 * i, i, true);
    for (let i = 0; i < 65_535; i++) {
      const s = headers + 64 * i;
      v.setUint32(s + 4, i === 0 ? 3 : 2, true);
      v.setBigUint64(s + 24, BigInt(i === 0 ? names : symbols), true);
      v.setBigUint64(s + 32, BigInt(i === 0 ? symbols - names : headers - symbols), true);
    }
    const before = process.memoryUsage().rss;
    expect(readElf(file, 'k').symbols).toEqual([]);
    file[names + 100] = 0;
    expect(readElf(file, 'k').symbols).toHaveLength(100);
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(300);
  });

  it('survives every truncation and single-byte change of a good file', () => {
    const ok = (bytes: Uint8Array): void => {
      try {
        readElf(bytes, 'k');
      } catch (e) {
        expect(e).toBeInstanceOf(HostError);
      }
    };
    for (let n = 0; n < GOOD.length; n++) ok(GOOD.slice(0, n));
    for (let n = 0; n < GOOD.length; n++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = GOOD.slice();
        changed[n] = value;
        ok(changed);
      }
    }
  });

  it.each([
    [{ harts: 0 }, /0 harts: 1 to 8/],
    [{ harts: 9 }, /9 harts/],
    [{ ramBytes: 1 << 20 }, /1 MiB of ram: 2 MiB to/],
    [{ ramBytes: 2 ** 40 }, /1048576 MiB of ram/],
    [{ virtio: [{ kind: 'rng', slot: 8 }] }, /slot 8/],
    [
      {
        virtio: [
          { kind: 'rng', slot: 1 },
          { kind: 'blk', slot: 1 },
        ],
      },
      /slot 1 is given twice/,
    ],
  ] as const)('refuses the options %j', (options, message) => {
    expect(() => Machine.create({ kernel: { name: 'k', bytes: GOOD }, bios: 'none', ...options })).toThrow(
      message,
    );
  });
});
