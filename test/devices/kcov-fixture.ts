// A kcov device on a bare RAM, driven by register stores as the hooks do it.

import { KcovDevice, type KcovPorts, type KcovRecord } from '../../devices/kcov.ts';
import { CTX, HART, HOOK, REG, SEEN } from '../../devices/kcov-layout.ts';
import { Ram } from '../../emulator/bus/ram.ts';

export const BASE = 0x8000_0000;
export const HARTS = BASE + 0x1000;
export const CONTEXT = BASE + 0x2000;
export const AREA = BASE + 0x1_0000;
export const EDGE_AREA = BASE + 0x2_0000;
export const SEEN_SET = BASE + 0x3_0000;
export const EDGE_SEEN = BASE + 0x5_0000;
export const TABLE = BASE + 0x8000;
export const KVA = 0xffff_ffff_0000_0000n;
const RAM_BYTES = 0x10_0000;
/** Filler of everything that must not change. */
const GUARD = 0xa5;

export interface Fixture {
  ram: Ram;
  device: KcovDevice;
  hart: { current: number; count: number };
  published: number[];
  records: KcovRecord[];
  /** Units of work that the device has reported. */
  work(): number;
  store(register: number, value: bigint | number): void;
  load(register: number): bigint;
  word(index: number, area?: number): bigint;
  /** A context that records into AREA. */
  context(mode: number, words: number, more?: Partial<Record<keyof typeof CTX, bigint | number>>): void;
  pc(value: bigint | number): void;
  cmp(kind: keyof typeof HOOK, a: bigint | number, b: bigint | number, pc?: bigint | number): void;
  /** Addresses of the bytes of [from, from + bytes) that are not the filler. */
  touched(from: number, bytes: number): number[];
}

/** `more` makes other ports; the host's memory has `hostBytes` behind RAM. */
export function fixture(
  ramBytes = RAM_BYTES,
  more?: (ram: Ram) => Partial<KcovPorts>,
  hostBytes = 0,
): Fixture {
  const pages = (ramBytes + hostBytes) / 0x1_0000 + 1;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const ram = new Ram(memory, 0x1_0000, BASE, ramBytes);
  const hart = { current: 0, count: 2 };
  const published = [0, 0];
  let spent = 0;
  const work = { spend: (units: number) => void (spent += units) };
  const publish = (h: number, host: number) => (published[h] = host);
  const device = new KcovDevice({ ram, hart, work, publish, ...more?.(ram) });
  const store = (register: number, value: bigint | number) => {
    const v = BigInt.asUintN(64, BigInt(value));
    device.write(register, 4, Number(v & 0xffff_ffffn));
    device.write(register + 4, 4, Number(v >> 32n));
  };
  const records: KcovRecord[] = [];
  const self: Fixture = {
    ram,
    device,
    hart,
    published,
    records,
    work: () => spent,
    store,
    load: r => (BigInt(device.read(r + 4, 4)) << 32n) | BigInt(device.read(r, 4)),
    word: (i, area = AREA) => ram.read64(area + 8 * i),
    context(mode, words, more = {}) {
      ram.fill(CONTEXT, CTX.SIZE, 0);
      ram.write32(CONTEXT + CTX.MODE, mode);
      ram.write64(CONTEXT + CTX.AREA, BigInt(AREA));
      ram.write64(CONTEXT + CTX.WORDS, BigInt(words));
      for (const [field, value] of Object.entries(more)) {
        const at = CONTEXT + CTX[field as keyof typeof CTX];
        if (['FLAGS', 'TID', 'PID', 'SYSCALL', 'KIND'].includes(field)) ram.write32(at, Number(value));
        else ram.write64(at, BigInt(value));
      }
      store(REG.CURRENT, CONTEXT);
    },
    pc: value => store(REG.TRIGGER + 8 * HOOK.PC, value),
    cmp(kind, a, b, pc = 0x1234) {
      store(REG.ARG0, a);
      store(REG.ARG1, b);
      store(REG.TRIGGER + 8 * HOOK[kind], pc);
    },
    touched(from, bytes) {
      const data = ram.read(from, bytes);
      return [...data.keys()].filter(i => data[i] !== GUARD).map(i => from + i);
    },
  };
  ram.fill(BASE, ramBytes, GUARD);
  ram.fill(HARTS, HART.SIZE * 2, 0);
  ram.write64(AREA, 0n);
  store(REG.HARTS, HARTS);
  store(REG.KVA_OFFSET, KVA);
  return self;
}

/** An empty seen-set in RAM. */
export function seenSet(f: Fixture, at: number, nodes: number, nodeWords: number): void {
  f.ram.fill(at, SEEN.SIZE + (4 << 15), 0);
  f.ram.write32(at + SEEN.BUCKETS_LOG2, 12);
  f.ram.write32(at + SEEN.NODE_WORDS, nodeWords);
  f.ram.write64(at + SEEN.NODES, BigInt(nodes));
  f.ram.write64(at + SEEN.BUCKETS, BigInt(at + SEEN.SIZE));
  f.ram.write64(at + SEEN.POOL, BigInt(at + SEEN.SIZE + (4 << 12)));
}
