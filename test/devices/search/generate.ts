// Random device programs. Half of them are structured: rings, contexts and transfers that a driver
// could have set up, with parts that no driver would. All addresses come from few places in RAM, so
// that structures overlap; the rest of the accesses go anywhere.

import { CLINT_MAP } from '../../../devices/clint.ts';
import { EDU_BUFFER, EDU_MAP } from '../../../devices/edu.ts';
import { FINISHER_MAP } from '../../../devices/finisher.ts';
import { BURST, FW_CFG_MAP } from '../../../devices/fw-cfg.ts';
import { KCOV_MAP } from '../../../devices/kcov.ts';
import { CTX, HOOK, REG, SEEN } from '../../../devices/kcov-layout.ts';
import { PLIC_MAP } from '../../../devices/plic.ts';
import { RTC_EPOCH, RTC_MAP } from '../../../devices/rtc.ts';
import { UART_MAP } from '../../../devices/uart16550.ts';
import { VIRTIO_MAP } from '../../../devices/virtio-mmio.ts';
import type { RegMap } from '../../../emulator/bus/regmap.ts';
import { MAP, RAM_BASE, virtioSlot } from '../../../emulator/machine/memory-map.ts';
import type { Random } from '../../support/random.ts';
import type { Action, Program } from './program.ts';
import { RAM_BYTES } from './world.ts';

const END = RAM_BASE + RAM_BYTES;
const PLACES: readonly [RegMap<string>, number][] = [
  [RTC_MAP as RegMap<string>, MAP.rtc.base],
  [UART_MAP as RegMap<string>, MAP.uart.base],
  [FINISHER_MAP as RegMap<string>, MAP.finisher.base],
  [KCOV_MAP as RegMap<string>, MAP.kcov.base],
  [EDU_MAP as RegMap<string>, MAP.edu.base],
  [FW_CFG_MAP as RegMap<string>, MAP.fwCfg.base],
  [PLIC_MAP as RegMap<string>, MAP.plic.base],
  [CLINT_MAP as RegMap<string>, MAP.clint.base],
  ...[4, 5, 6, 7].map((n): [RegMap<string>, number] => [VIRTIO_MAP as RegMap<string>, virtioSlot(n).base]),
];
const [NEXT, WRITE, INDIRECT] = [1, 2, 4] as const;

class Generator {
  readonly #r: Random;
  readonly #out: Action[] = [];
  readonly #hot: number[];

  constructor(random: Random) {
    this.#r = random;
    this.#hot = Array.from({ length: 5 }, () => RAM_BASE + 0x1000 * random.below(24));
    // At the end of RAM, so that what begins inside ends outside.
    if (random.oneIn(3)) this.#hot.push(END - 0x1000);
  }

  program(): Program {
    const r = this.#r;
    const legacy = r.oneIn(2);
    for (let parts = 1 + r.below(4); parts > 0; parts--) {
      r.pick([
        () => this.#ring(legacy),
        () => this.#ring(legacy),
        () => this.#ring(legacy),
        () => this.#kcov(),
        () => this.#kcov(),
        () => (r.oneIn(8) ? this.#longChain() : this.#kcov()),
        () => this.#edu(),
        () => this.#fwCfg(),
        () => this.#timer(),
        () => this.#anything(),
        () => this.#anything(),
      ])();
      if (r.oneIn(3)) this.#out.push({ do: 'time', units: r.pick([0, 1, 99, 100, 5000, 70_000, 1_000_000]) });
      if (r.oneIn(24)) this.#out.push({ do: 'again' });
    }
    return { legacy, actions: this.#out };
  }

  /** An address near one of few places. */
  #address(align = 1): number {
    const r = this.#r;
    const at = r.pick(this.#hot) + r.pick([0, 0, 0, 4, 8, 16, 64, 128, 256, 0x800, r.below(4096)]);
    return at - (at % align);
  }

  /** Mostly an address in RAM. */
  #pointer(align = 1): bigint {
    const r = this.#r;
    if (!r.oneIn(12)) return BigInt(this.#address(align));
    return r.pick([
      0n,
      8n,
      BigInt(END - 8),
      BigInt(END),
      BigInt(MAP.kcov.base),
      1n << 56n,
      2n ** 64n - 8n,
      r.u64(),
    ]);
  }

  #value(): bigint {
    const r = this.#r;
    return r.pick([
      0n,
      1n,
      BigInt(r.below(256)),
      0x7fff_ffffn,
      0xffff_ffffn,
      2n ** 63n,
      2n ** 64n - 1n,
      this.#pointer(),
      r.u64(),
      BigInt(r.u32()),
    ]);
  }

  #store(at: number, bytes: number, value: bigint | number): void {
    this.#out.push({ do: 'store', at, bytes, value: BigInt.asUintN(8 * bytes, BigInt(value)) });
  }

  #ram(at: number, bytes: number, value: bigint | number): void {
    this.#out.push({ do: 'ram', at, bytes, value: BigInt.asUintN(8 * bytes, BigInt(value)) });
  }

  /**
   * Registers of any device with any width, holes, and places next to them. Mostly some of one
   * device in a row: what a register does often depends on the one before (a mode, a bank).
   */
  #anything(): void {
    const r = this.#r;
    let place = r.pick(PLACES);
    for (let n = r.below(12); n >= 0; n--) {
      if (r.oneIn(4)) place = r.pick(PLACES);
      const [map, base] = place;
      const row = r.pick(map.rows);
      const count = r.below(row.count ?? 1);
      const shift = r.oneIn(3) ? r.below(row.bytes) : 0;
      const offset = r.oneIn(10) ? r.below(map.size) : row.at + count * (row.stride ?? row.bytes) + shift;
      const at = base + offset;
      const bytes = r.oneIn(4) ? r.pick([1, 2, 4, 8]) : row.bytes;
      if (r.oneIn(8)) this.#input();
      if (r.oneIn(16)) this.#out.push({ do: 'hart', hart: r.below(2) });
      if (r.oneIn(8)) this.#out.push({ do: 'peek', at, bytes });
      if (r.oneIn(3)) this.#out.push({ do: 'load', at, bytes });
      else this.#store(at, bytes, this.#value());
    }
  }

  #input(): void {
    const r = this.#r;
    const port = r.pick(['uart', 'console', 'break', 'resize'] as const);
    this.#out.push({ do: 'input', port, bytes: r.pick([0, 1, 5, 20, 300, 5000]) });
  }

  /** A queue of some device, chains in it, and notifications. */
  #ring(legacy: boolean): void {
    const r = this.#r;
    const base = virtioSlot(4 + r.below(4)).base;
    const queue = r.oneIn(12) ? r.below(4) : r.pick([0, 0, 1]);
    const size = r.oneIn(6) ? r.pick([0, 3, 1025, 0xffff]) : r.pick([1, 2, 4, 8, 8, 16, 64, 1024]);
    const set = (at: number, value: bigint | number): void => this.#store(base + at, 4, value);
    const ready = (): void => {
      set(0x70, r.pick([3, 7, 15, 11]));
      set(0x30, queue);
      set(0x38, size);
    };
    ready();
    let desc = this.#address(r.oneIn(8) ? 1 : 16);
    let avail = this.#address(r.oneIn(8) ? 1 : 2);
    let used = this.#address(r.oneIn(8) ? 1 : 4);
    // Half of the rings do not overlap.
    if (r.oneIn(2)) [desc, avail, used] = [RAM_BASE + 0x6_0000, RAM_BASE + 0x6_8000, RAM_BASE + 0x6_c000];
    if (legacy && !r.oneIn(4)) {
      set(0x28, r.oneIn(8) ? r.pick([1, 0xffff_ffff]) : 4096);
      set(0x3c, r.oneIn(4) ? r.pick([1, 4, 3]) : 4096);
      desc = Math.floor(desc / 4096) * 4096;
      set(0x40, desc / 4096);
      avail = desc + 16 * size;
    } else {
      const places = [desc, avail, used];
      for (const [i, at] of places.entries()) {
        const value = r.oneIn(16) ? this.#pointer() : BigInt(at);
        set(0x80 + 16 * i, value & 0xffff_ffffn);
        set(0x84 + 16 * i, value >> 32n);
      }
      set(0x44, 1);
    }
    if (r.oneIn(2)) this.#chains(desc, size);
    else this.#request(desc);
    for (let n = r.below(3); n >= 0; n--) {
      // The index counts from the start, so that a few requests wait.
      const waiting = r.pick([1, 1, 2, 3, size, size + 1, r.below(0x1_0000)]);
      for (let i = 0; i < Math.min(waiting, 4); i++)
        this.#ram(avail + 4 + 2 * i, 2, r.oneIn(8) ? r.u32() : r.oneIn(2) ? 0 : r.below(4));
      if (r.oneIn(6)) this.#ram(avail, 2, 1);
      this.#ram(avail + 2, 2, waiting);
      set(0x50, queue);
      if (r.oneIn(6)) this.#input();
      if (r.oneIn(6)) this.#out.push({ do: 'time', units: r.below(200_000) });
      if (r.oneIn(10)) set(0x70, 0);
      if (r.oneIn(4)) ready();
    }
  }

  /** Requests of a driver to a disk or another device; sizes may be too large. */
  #request(desc: number): void {
    const r = this.#r;
    // Away from the rings, most of the time.
    const header = r.oneIn(4) ? this.#address(8) : RAM_BASE + 0x5_0000;
    const sector = r.pick([0, 1, 100, 190, 191, 192, 193, 2 ** 31, 2 ** 60]);
    this.#ram(header, 4, r.below(2));
    this.#ram(header + 8, 8, BigInt(sector));
    const data = r.pick([0, 1, 512, 1024, 4096, 0x1_0000, 0x2_0000, 0x10_0000]);
    const isWritable = r.oneIn(2);
    const buffer = RAM_BASE + r.pick([0, 0x1000, 0x8_0000, 0xc_0000]);
    const descriptors: [number, number, number][] = r.oneIn(3)
      ? [[buffer, data, isWritable ? WRITE : 0]]
      : [
          [header, 16, NEXT],
          [buffer, data, NEXT | (isWritable ? WRITE : 0)],
          [r.oneIn(4) ? this.#address() : RAM_BASE + 0x5_0100, 1, WRITE],
        ];
    for (const [i, [at, bytes, flags]] of descriptors.entries()) {
      this.#ram(desc + 16 * i, 8, at);
      this.#ram(desc + 16 * i + 8, 4, bytes);
      this.#ram(desc + 16 * i + 12, 2, flags);
      this.#ram(desc + 16 * i + 14, 2, i + 1);
    }
  }

  /** A seen-set whose only chain is a node that leads to itself, in a large pool. */
  #longChain(): void {
    const context = this.#address(CTX.ALIGN);
    const [seen, buckets, pool] = [RAM_BASE + 0x4_0000, RAM_BASE + 0x4_1000, RAM_BASE + 0x4_2000];
    const store = (register: number, value: number): void => this.#store(MAP.kcov.base + register, 8, value);
    this.#ram(context + CTX.MODE, 4, 4);
    this.#ram(context + CTX.SEEN, 8, seen);
    this.#ram(seen + SEEN.NODE_WORDS, 4, 1);
    this.#ram(seen + SEEN.NODES, 8, this.#r.pick([65_000, 66_000, 100_000]));
    this.#ram(seen + SEEN.BUCKETS, 8, buckets);
    this.#ram(seen + SEEN.POOL, 8, pool);
    this.#ram(buckets, 4, 1);
    this.#ram(pool, 4, 1);
    store(REG.HARTS, this.#address(64));
    store(REG.CURRENT, context);
    store(REG.TRIGGER + 8 * HOOK.PC, 0x1234);
  }

  #chains(desc: number, size: number): void {
    const r = this.#r;
    for (let i = 0; i < Math.min(size, 1 + r.below(6)); i++) {
      // The header of a disk's request, where a buffer may be.
      const buffer = this.#pointer();
      if (r.oneIn(2) && buffer >= RAM_BASE && buffer < END) {
        this.#ram(Number(buffer), 4, r.pick([0, 0, 1, 1, 4, 8, 99]));
        this.#ram(Number(buffer) + 8, 8, r.oneIn(6) ? this.#value() : r.below(8));
      }
      const at = desc + 16 * i;
      const bytes = r.pick([
        0,
        1,
        8,
        16,
        16,
        17,
        512,
        513,
        4096,
        16 * r.below(2000),
        0x1_0000,
        RAM_BYTES / 2,
        r.u32(),
      ]);
      let flags = (r.oneIn(2) ? NEXT : 0) | (r.oneIn(2) ? WRITE : 0);
      if (r.oneIn(8)) flags |= INDIRECT;
      if (r.oneIn(16)) flags = r.u32();
      this.#ram(at, 8, buffer);
      this.#ram(at + 8, 4, bytes);
      this.#ram(at + 12, 2, flags);
      this.#ram(at + 14, 2, r.oneIn(8) ? r.u32() : r.oneIn(4) ? i : i + 1);
    }
  }

  /** A context, what it points at, and hooks. */
  #kcov(): void {
    const r = this.#r;
    const set = (register: number, value: bigint | number): void =>
      this.#store(MAP.kcov.base + register, 8, value);
    const context = this.#address(r.oneIn(16) ? 8 : CTX.ALIGN);
    const field = (at: number, bytes: number, value: bigint | number): void =>
      this.#ram(context + at, bytes, value);
    field(CTX.MODE, 4, r.oneIn(6) ? r.u32() : r.pick([1, 2, 4, 8, 12, 16]));
    field(CTX.FLAGS, 4, r.below(8));
    field(CTX.AREA, 8, this.#pointer(8));
    field(CTX.WORDS, 8, r.oneIn(10) ? this.#value() : r.pick([1, 2, 5, 9, 64, 1000, 60_000]));
    field(CTX.EDGE_AREA, 8, this.#pointer(8));
    for (const at of [CTX.SEEN, CTX.EDGE_SEEN]) {
      const seen = this.#address(8);
      field(at, 8, r.oneIn(10) ? this.#pointer() : seen);
      this.#seenSet(seen);
    }
    set(REG.HARTS, r.oneIn(10) ? this.#pointer() : this.#address(64));
    if (r.oneIn(3)) set(REG.KVA_OFFSET, r.oneIn(2) ? 0 : this.#value());
    if (r.oneIn(6)) set(REG.HOOKS, this.#pointer(8));
    set(REG.CURRENT, r.oneIn(12) ? this.#pointer() : context);
    for (let n = r.below(8); n >= 0; n--) {
      const kind = r.oneIn(3) ? HOOK.SWITCH : r.below(HOOK.COUNT);
      if (kind === HOOK.SWITCH) {
        const table = this.#address(8);
        this.#ram(
          table,
          8,
          r.oneIn(12) ? r.pick([16_384, 16_385, 200_000, 2 ** 40]) : r.pick([0, 1, 3, 100]),
        );
        this.#ram(table + 8, 8, r.pick([8, 16, 32, 64, 64, 7]));
        set(REG.ARG1, r.oneIn(10) ? this.#value() : table);
      } else set(REG.ARG1, this.#value());
      set(REG.ARG0, this.#value());
      if (r.oneIn(10)) this.#ram(this.#address(8), 8, this.#value());
      set(REG.TRIGGER + 8 * kind, this.#value());
      if (r.oneIn(6)) set(REG.ERROR, 0);
      if (r.oneIn(16)) this.#out.push({ do: 'hart', hart: r.below(2) });
    }
  }

  #seenSet(at: number): void {
    const r = this.#r;
    const pool = this.#address(8);
    this.#ram(at + SEEN.BUCKETS_LOG2, 4, r.pick([0, 0, 2, 10, 24, 25, 200]));
    this.#ram(at + SEEN.NODE_WORDS, 4, r.pick([1, 1, 4, 4, 0, 5, 0x8000_0000]));
    this.#ram(
      at + SEEN.NODES,
      8,
      r.oneIn(12) ? r.pick([40_000, 70_000, 120_000, 2 ** 31]) : r.pick([0, 1, 10, 1000]),
    );
    this.#ram(at + SEEN.USED, 8, r.pick([0, 1, 5, 1000, 2 ** 40]));
    const buckets = this.#address(4);
    this.#ram(at + SEEN.BUCKETS, 8, r.oneIn(10) ? this.#pointer() : buckets);
    this.#ram(at + SEEN.POOL, 8, r.oneIn(10) ? this.#pointer() : pool);
    if (r.oneIn(2)) this.#ram(buckets, 4, r.pick([1, 2, 1000]));
    // Nodes that lead to themselves, to one another, out of the pool.
    for (let n = 0; n < 3; n++)
      this.#ram(pool + r.pick([16, 40]) * n, 4, r.pick([0, 1, 2, 3, 1000, r.u32()]));
  }

  #edu(): void {
    const r = this.#r;
    const set = (register: number, value: bigint | number): void =>
      this.#store(MAP.edu.base + register, r.oneIn(4) ? 4 : 8, value);
    const own = (): bigint => BigInt(EDU_BUFFER + r.pick([0, 1, 8, 100, 4095, 4096, -1]));
    const toRam = r.oneIn(2);
    set(0x80, toRam ? own() : this.#pointer());
    set(0x88, toRam ? this.#pointer() : own());
    set(0x90, r.oneIn(8) ? this.#value() : r.pick([0, 1, 8, 100, 4095, 4096, 4097]));
    set(0x98, (toRam ? 2 : 0) | 1 | (r.oneIn(2) ? 4 : 0));
    if (r.oneIn(3)) set(0x08, this.#value());
    this.#out.push({ do: 'time', units: r.pick([1, 100, 5000]) });
  }

  /** Requests by DMA, some of which are in progress when the next one comes, and reads. */
  #fwCfg(): void {
    const r = this.#r;
    const at = MAP.fwCfg.base;
    const bigEndian = (value: bigint, bytes: number): bigint => {
      let swapped = 0n;
      for (let i = 0; i < bytes; i++) swapped = (swapped << 8n) | ((value >> BigInt(8 * i)) & 0xffn);
      return swapped;
    };
    for (let n = r.below(4); n >= 0; n--) {
      const key = r.pick([0, 1, 0x19, 0x20, 0x21, 0x21, 0x21, 0x22, 0x999]);
      if (r.oneIn(4)) this.#store(at + 8, 2, bigEndian(BigInt(key), 2));
      const request = this.#pointer(r.oneIn(2) ? 16 : 1);
      const length = r.pick([0, 1, 16, 100, 4096, BURST, BURST + 1, 200_000, 2 ** 20, r.u32()]);
      const control = (key << 16) | r.pick([10, 10, 10, 2, 2, 4, 12, 16, 1, 0, r.below(32)]);
      const target = r.oneIn(2) ? request : this.#pointer();
      if (request >= RAM_BASE && request + 16n <= END) {
        this.#ram(Number(request), 4, bigEndian(BigInt(control), 4));
        this.#ram(Number(request) + 4, 4, bigEndian(BigInt(length), 4));
        this.#ram(Number(request) + 8, 8, bigEndian(target, 8));
      }
      if (r.oneIn(4)) this.#store(at + 0x14, 4, bigEndian(request, 8) >> 32n);
      else this.#store(at + 0x10, 8, bigEndian(request, 8));
      if (r.oneIn(3)) this.#out.push({ do: 'load', at, bytes: r.pick([1, 2, 4, 8]) });
      if (r.oneIn(3)) this.#out.push({ do: 'time', units: r.pick([1, 100, BURST - 1, BURST, 3 * BURST]) });
      if (r.oneIn(8)) this.#out.push({ do: 'again' });
    }
  }

  /** mtime, mtimecmp and the real-time clock, close to one another and to where they wrap. */
  #timer(): void {
    const r = this.#r;
    const near = (): bigint =>
      r.pick([0n, 1n << 32n, 1n << 53n, 1n << 63n, 1n << 64n, RTC_EPOCH]) + BigInt(r.below(400)) - 200n;
    for (let n = r.below(6); n >= 0; n--) {
      if (r.oneIn(3)) {
        const at = MAP.rtc.base + r.pick([0x00, 0x08]);
        const value = BigInt.asUintN(64, near());
        this.#store(at + 4, 4, value >> 32n);
        this.#store(at, 4, value);
      } else {
        const at = MAP.clint.base + r.pick([0x4000, 0x4008, 0xbff8]);
        if (r.oneIn(4)) this.#store(at + r.pick([0, 4]), 4, near());
        else this.#store(at, 8, near());
      }
      if (r.oneIn(3)) this.#out.push({ do: 'time', units: r.pick([1, 100, 10_000, 40_000]) });
    }
  }
}

export const generateProgram = (random: Random): Program => new Generator(random).program();
