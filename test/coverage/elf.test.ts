/** Hostile ELF files: every result is a value or an error of one line. */
import { describe, expect, it } from 'vitest';
import { CallSites, CoverageError, Elf, Symbolizer } from '../../coverage/index.ts';

/** A tiny ELF file with a .text, a .symtab and names. */
function tinyElf(): Uint8Array {
  const bytes = new Uint8Array(0x400);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(16, 2, true);
  view.setUint16(18, 243, true);
  view.setBigUint64(40, 0x200n, true);
  view.setUint16(58, 64, true);
  view.setUint16(60, 5, true);
  view.setUint16(62, 4, true);
  const names = '\0.text\0.symtab\0.strtab\0.shstrtab\0f\0__sanitizer_cov_trace_pc\0';
  bytes.set(new TextEncoder().encode(names), 0x180);
  const section = (i: number, name: string, fields: [number, bigint, bigint, bigint, bigint, number]) => {
    const at = 0x200 + 64 * i;
    view.setUint32(at, names.indexOf(name), true);
    view.setUint32(at + 4, fields[0], true);
    for (let k = 0; k < 4; k++) view.setBigUint64(at + 8 + 8 * k, fields[(k + 1) as 1]!, true);
    view.setUint32(at + 40, fields[5], true);
  };
  section(1, '.text', [1, 6n, 0x8000_0000n, 0x100n, 0x10n, 0]);
  section(2, '.symtab', [2, 0n, 0n, 0x120n, 72n, 3]);
  section(3, '.strtab', [3, 0n, 0n, 0x180n, BigInt(names.length), 0]);
  section(4, '.shstrtab', [3, 0n, 0n, 0x180n, BigInt(names.length), 0]);
  view.setUint32(0x100, 0x00c000ef, true); // jal ra, +12
  view.setUint32(0x104, 0x00008067, true);
  const symbol = (i: number, name: string, addr: bigint, size: bigint) => {
    const at = 0x120 + 24 * i;
    view.setUint32(at, names.indexOf(name), true);
    bytes[at + 4] = 0x12;
    view.setUint16(at + 6, 1, true);
    view.setBigUint64(at + 8, addr, true);
    view.setBigUint64(at + 16, size, true);
  };
  symbol(1, 'f\0', 0x8000_0000n, 8n);
  symbol(2, '__san', 0x8000_000cn, 4n);
  return bytes;
}

/** Do everything the room can do with an image. */
function exercise(bytes: Uint8Array): void {
  const elf = new Elf(bytes, 'x.elf');
  elf.imageId;
  elf.functions();
  const symbolizer = new Symbolizer(elf);
  symbolizer.frames(0x8000_0000);
  const sites = new CallSites(elf);
  for (const call of sites.call) symbolizer.frames(call);
}

describe('ELF reader', () => {
  it('reads symbols, code and call sites', () => {
    const elf = new Elf(tinyElf(), 'x.elf');
    expect(elf.functions().map(f => f.name)).toEqual(['f', '__sanitizer_cov_trace_pc']);
    expect(elf.imageId).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect([...new CallSites(elf).ret]).toEqual([0x8000_0004]);
    expect(new Symbolizer(elf).frames(0x8000_0004)[0]).toMatchObject({ function: 'f', file: '', line: 0 });
  });

  it('answers every truncation and every flipped byte with a value or one line', () => {
    const whole = tinyElf();
    const attempt = (bytes: Uint8Array) => {
      try {
        exercise(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(CoverageError);
        expect((error as Error).message).toMatch(/^[^\n]+$/);
      }
    };
    for (let cut = 0; cut < whole.length; cut += 7) attempt(whole.subarray(0, cut));
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const damaged = whole.slice();
        damaged[at] = value;
        attempt(damaged);
      }
    }
  });

  it('reads a file in proportion to its size, whatever its tables refer to', () => {
    // A MiB of one name without an end, to which every section and symbol refers.
    const name = 1 << 20;
    const count = 60_000;
    const [symbols, headers] = [64 + name, 64 + name + 24 * count];
    const build = (type: number, sections: number, flags: bigint, bytes: number): Uint8Array => {
      const file = new Uint8Array(headers + 64 * (sections + 2));
      file.set(tinyElf().subarray(0, 64));
      file.fill(0x61, 64, symbols);
      const view = new DataView(file.buffer);
      view.setBigUint64(40, BigInt(headers), true);
      view.setUint16(60, sections + 2, true);
      view.setUint16(62, 0, true);
      const section = (i: number, fields: [number, bigint, number, number, number]) => {
        const at = headers + 64 * i;
        view.setUint32(at + 4, fields[0], true);
        view.setBigUint64(at + 8, fields[1], true);
        view.setBigUint64(at + 24, BigInt(fields[2]), true);
        view.setBigUint64(at + 32, BigInt(fields[3]), true);
        view.setUint32(at + 40, fields[4], true);
      };
      section(0, [3, 0n, 64, name, 0]);
      section(1, [2, 0n, symbols, 24 * count, 0]);
      for (let i = 2; i < sections + 2; i++) section(i, [type, flags, 64, bytes, 0]);
      for (let i = 0; i < count; i++) {
        view.setUint32(symbols + 24 * i, i, true);
        view.setUint16(symbols + 24 * i + 6, 2, true);
        view.setBigUint64(symbols + 24 * i + 8, BigInt(i), true);
      }
      return file;
    };
    const before = process.memoryUsage().rss;
    const { symbols: table } = new Elf(build(1, 1, 2n, 16), 'x');
    expect(table.count).toBe(count - 1);
    expect(table.named('b')).toEqual([]);
    expect(() => new Elf(build(7, 65_000, 6n, name), 'x')).toThrow(/^x is damaged: its sections overlap/);
    expect(() => new Elf(build(1, 65_000, 2n, 16), 'x')).toThrow('65000 loaded sections, at most 4096');
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(600);
  });

  it('says what a file is not', () => {
    expect(() => new Elf(new Uint8Array(3), 'x')).toThrow('x is not an ELF file: only 3 bytes');
    expect(() => new Elf(new Uint8Array(64), 'x')).toThrow('x is not an ELF file: wrong magic');
    const x86 = tinyElf();
    x86[18] = 62;
    x86[19] = 0;
    expect(() => new Elf(x86, 'x')).toThrow('x is not a RISC-V ELF file (machine 62)');
    const short = tinyElf().subarray(0, 0x220);
    expect(() => new Elf(short, 'x')).toThrow(
      'x is truncated: 5 section headers at 0x200 end after its 544 bytes',
    );
  });
});
