// The coverage hooks of the kernel in a shape program: their code (kernel/kcov/hooks.S), a thread
// whose context records, and the kcov device that they reach. Kernel addresses are physical ones.

import { AreaWatch } from '../../../coverage/record.ts';
import { KcovDevice } from '../../../devices/kcov.ts';
import { CTX, CTXF, HOOK, HOOKS, RECORD, REG } from '../../../devices/kcov-layout.ts';
import type { KcovOrigin } from '../../../devices/kcov-origin.ts';
import { HARTID } from '../../../emulator/hart/layout.ts';
import { RecordRing } from '../../../emulator/machine/kcov-inline/ring.ts';
import { type HookTable, retOf, stubWords } from '../../../emulator/machine/kcov-inline/table.ts';
import { RecordTally } from '../../../emulator/machine/kcov-inline/tally.ts';
import { KCOV_CURRENT, KCOV_RECORDS } from '../../../emulator/machine/kcov-inline/window.ts';
import { MAP } from '../../../emulator/machine/memory-map.ts';
import { type Flat, RAM_BASE } from '../flat.ts';
import type { Random } from '../random.ts';
import { type Assembly, Place } from './assembly.ts';

/** Data of the hooks in RAM, a page each. */
const THREAD = RAM_BASE + 0xb_0000;
const BASE_VAR = THREAD + 0x1000;
const HARTS = THREAD + 0x2000;
const TABLE = THREAD + 0x3000;
const CONTEXT = THREAD + 0x4000;
const SWITCHES = THREAD + 0x5000;
const SWITCH_BYTES = 0x800;
const SWITCH_COUNT = 6;
export const AREA = RAM_BASE + 0xc_0000;
const LIVE_OFFSET = 0x28;
/** Cases of the tables of switches: 120 are recorded by compiled code, more by the device. */
const CASES = [0, 1, 7, 60, 120, 121] as const;

type Heard = 'no' | 'records' | 'counts';

/** Which records the thread makes, and where they go. */
export interface Tracing {
  /**
   * `off`: no live context. `stale`: the live context is not CURRENT. The others are modes: `both`
   * and `unique` are no modes that compiled code records.
   */
  readonly mode: 'off' | 'stale' | 'pc' | 'cmp' | 'both' | 'unique';
  /** Of the buffer, its count included. */
  readonly words: number;
  /** The buffer lies by itself, in the last page of code, or in a page table. */
  readonly place: 'apart' | 'code' | 'table';
  readonly isFreebsd: boolean;
  /** A passive listener takes the records, or only their numbers. */
  readonly heard: Heard;
}

export const NO_TRACING: Tracing = {
  mode: 'off',
  words: 1,
  place: 'apart',
  isFreebsd: false,
  heard: 'no',
};

export function drawTracing(random: Random): Tracing {
  const place = random.oneIn(5) ? random.pick(['code', 'table'] as const) : 'apart';
  return {
    mode: random.oneIn(4)
      ? random.pick(['off', 'stale', 'both', 'unique'] as const)
      : random.pick(['pc', 'cmp'] as const),
    words: place === 'apart' ? random.pick([1, 5, 200, 3000, 30_000]) : 1 + random.below(40),
    place,
    isFreebsd: random.oneIn(6),
    heard: random.pick(['no', 'no', 'records', 'counts'] as const),
  };
}

const MODES = {
  ...{ off: RECORD.PC, stale: RECORD.PC, pc: RECORD.PC, cmp: RECORD.CMP },
  ...{ both: RECORD.PC | RECORD.CMP, unique: RECORD.UNIQ_PC },
} as const;

const tableOf = (addresses: readonly number[]): HookTable => ({
  addresses: addresses.map(BigInt),
  liveOffset: LIVE_OFFSET,
  baseVar: BigInt(BASE_VAR),
  kvaOffset: 0n,
  harts: HARTS,
  device: BigInt(MAP.kcov.base),
  mode: () => 0,
});

/** Where the data of the hooks is, for who changes it. */
export const HOOK_PAGES = {
  thread: THREAD,
  baseVar: BASE_VAR,
  harts: HARTS,
  context: CONTEXT,
  liveOffset: LIVE_OFFSET,
} as const;
/** For tp and gp: the thread, and its live context. */
export const THREAD_POINTER = THREAD;
export const liveContext = ({ mode }: Tracing): number => (mode === 'off' ? 0 : CONTEXT);

/** Takes the thread's live context away, as an interrupt does, or puts it back from gp. */
export const setLive = (a: Assembly, isLive: boolean): void =>
  void a.put('sd', { rs1: 4, rs2: isLive ? 3 : 0, imm: LIVE_OFFSET });

/**
 * Changes the buffer as a program may, with x19 and x20: its count, a record; or the kernel takes
 * another buffer.
 */
export function meddle(a: Assembly, random: Random): void {
  const [at, to] = [19, 20];
  const store = (address: number, imm: number): void => {
    a.address(at, Object.assign(new Place(), { at: address }));
    a.put('sd', { rs1: at, rs2: to, imm });
  };
  const record = 8 * (1 + random.below(40));
  switch (random.pick(['reset', 'count', 'record', 'area'] as const)) {
    case 'reset':
      a.put('addi', { rd: to, rs1: 0, imm: 0 });
      store(AREA, 0);
      break;
    case 'count':
      a.put('addi', { rd: to, rs1: 0, imm: random.below(12) });
      store(AREA, 0);
      break;
    case 'record':
      a.put('addi', { rd: to, rs1: 0, imm: random.below(12) });
      store(AREA, record);
      break;
    case 'area':
      a.address(to, Object.assign(new Place(), { at: AREA + random.pick([0, 0x100]) }));
      store(CONTEXT, CTX.AREA);
  }
}

/** The address of a `switch`'s table. */
export const switchTable = (random: Random): number => SWITCHES + SWITCH_BYTES * random.below(SWITCH_COUNT);
/** Of the one that has too many cases for compiled code, and their number. */
export const LONG_SWITCH = { table: SWITCHES + SWITCH_BYTES * (SWITCH_COUNT - 1), cases: CASES.at(-1)! };

/** Writes the hooks; behind the `ret` of each, where it goes without a device, another. */
export function writeHooks(a: Assembly, hooks: readonly Place[]): void {
  while (a.pc % 4 !== 0) a.cNop();
  for (const [kind, place] of hooks.entries()) {
    a.here(place);
    const addresses = hooks.map(() => a.pc);
    for (const word of stubWords(kind, tableOf(addresses))!) a.word(word);
    if (a.pc !== place.at + retOf(kind) + 4) throw new Error(`hook ${kind} has another length`);
    a.put('jalr', { rd: 0, rs1: 1, imm: 0 });
  }
}

/** First contents of RAM; pages of code and of a table are free from `codeEnd` and `tableEnd`. */
export function writeHookData(
  put: (pa: number, value: bigint) => void,
  hooks: readonly number[],
  tracing: Tracing,
  free: { readonly codeEnd: number; readonly tableEnd: number },
): void {
  const { mode, words, place, isFreebsd } = tracing;
  const area = { apart: AREA, code: free.codeEnd, table: free.tableEnd }[place];
  const field = (at: number, value: bigint | number): void => put(CONTEXT + at, BigInt(value));
  put(THREAD + LIVE_OFFSET, BigInt(liveContext(tracing)));
  put(BASE_VAR, BigInt(MAP.kcov.base));
  put(HARTS, mode === 'off' ? 0n : BigInt(mode === 'stale' ? CONTEXT + 2 * CTX.SIZE : CONTEXT));
  for (const context of mode === 'stale' ? [0, 2 * CTX.SIZE] : [0]) {
    field(context + CTX.MODE, BigInt(MODES[mode]) | (BigInt(isFreebsd ? CTXF.SWITCH_FREEBSD : 0) << 32n));
    field(context + CTX.AREA, area + 8 * context);
    field(context + CTX.WORDS, words);
  }
  for (const [kind, address] of hooks.entries()) put(TABLE + 8 * kind, BigInt(address));
  put(TABLE + HOOKS.LIVE_OFFSET, BigInt(LIVE_OFFSET));
  put(TABLE + HOOKS.BASE_VAR, BigInt(BASE_VAR));
  for (const [i, cases] of CASES.entries()) {
    const at = SWITCHES + SWITCH_BYTES * i;
    put(at, BigInt(cases));
    put(at + 8, BigInt(8 << (i % 4)));
    for (let n = 0; n < cases; n++) put(at + 16 + 8 * n, BigInt(n * 3));
  }
}

/**
 * Puts the device on the bus and tells it where the hooks are; `announce` gets the table that
 * compiled code has to know. Returns the number of records, by the device and by compiled code.
 */
export function addKcov(
  flat: Flat,
  announce: (table: HookTable) => void,
  heard: Heard = 'no',
): () => Records {
  let tally: RecordTally | undefined;
  const device = new KcovDevice({
    ram: flat.ram,
    hart: {
      get current() {
        return flat.hart.state.get(HARTID);
      },
      count: 2,
    },
    publish: (_, address) => flat.hart.state.set(KCOV_CURRENT, address),
    publishHooks: hooks =>
      hooks &&
      announce({
        ...hooks,
        device: BigInt(MAP.kcov.base),
        mode: () => device.contextOf(flat.hart.state.get(HARTID))?.mode ?? 0,
        tally: hooks.tally && tally,
      }),
    ring: (slow, full) => new RecordRing(flat.ram, flat.ringBase, slow, full),
    tally: () => {
      tally = new RecordTally(flat.ram, flat.tallyBase);
      return tally;
    },
  });
  const digest = heard === 'no' ? () => '' : (heard === 'counts' ? count : listen)(device, flat);
  flat.bus.add(device, MAP.kcov.base, MAP.kcov.size);
  announceHooks(device);
  return () => ({
    device: device.records,
    compiled: Number(flat.hart.state.get64(KCOV_RECORDS)),
    heard: digest(),
  });
}

/** The last finding and their number. A real watch tells one for each buffer; this one, all. */
class Watch {
  found = '';
  readonly #ram: Flat['ram'];
  #count = 0;
  #watch: AreaWatch;

  constructor(ram: Flat['ram']) {
    this.#ram = ram;
    this.#watch = this.#new();
  }

  #new(): AreaWatch {
    return new AreaWatch(
      address => this.#ram.read32(address),
      finding => {
        this.found = `${++this.#count} ${finding}`;
      },
    );
  }

  wrote(...record: Parameters<AreaWatch['wrote']>): void {
    const before = this.#count;
    this.#watch.wrote(...record);
    if (this.#count === before) return;
    this.#watch = this.#new();
    this.#watch.wrote(...record);
  }

  wroteRun(...run: Parameters<AreaWatch['wroteRun']>): void {
    this.#watch.wroteRun(...run);
  }
}

/**
 * A digest of the records that a listener hears, with its last finding; one that takes runs, too.
 */
function listen(device: KcovDevice, { ram }: Flat): () => string {
  let [digest, count] = [0, 0];
  const watch = new Watch(ram);
  const hear = (origin: KcovOrigin, words: Uint32Array, area: number, index: number): void => {
    count++;
    for (const word of [...words, origin.syscall, origin.contextAddress, origin.descriptor, area, index])
      digest = (Math.imul(digest, 31) + word) | 0;
  };
  device.observe({
    isPassive: true,
    record: (origin, _isEdge, words, area, index) => {
      hear(origin, words, area, index);
      if (index >= 0) watch.wrote(origin.descriptor, area, index, words);
    },
    run: (origin, run) => {
      const { words, at, halves, count: length, area, index } = run;
      for (let i = 0; i < length; i++)
        hear(origin, words.slice(at + i * halves, at + (i + 1) * halves), area, index + i);
      watch.wroteRun(origin.descriptor, run);
    },
  });
  return () => {
    device.flush();
    return `${count} ${digest} ${watch.found}`;
  };
}

/** The same of a listener that only counts: the numbers of each hook. */
function count(device: KcovDevice, { ram }: Flat): () => string {
  const numbers = new Map<string, number>();
  const watch = new Watch(ram);
  const add = (key: string, more: number): void =>
    void (more > 0 && numbers.set(key, (numbers.get(key) ?? 0) + more));
  device.observe({
    isPassive: true,
    record: (origin, _isEdge, words, area, index) => {
      add(`${words.length} ${words.at(-2)} ${words.at(-1)} ${index < 0}`, 1);
      if (index >= 0) watch.wrote(origin.descriptor, area, index, words);
    },
    counts: {
      counted: ({ isCmp, lo, hi, stored, lost }) => {
        add(`${isCmp ? 8 : 2} ${lo} ${hi} false`, stored);
        add(`${isCmp ? 8 : 2} ${lo} ${hi} true`, lost);
      },
      last: (descriptor, record) => watch.wroteRun(descriptor, record),
    },
  });
  return () => {
    device.flush();
    return `${[...numbers]
      .map(row => row.join(' '))
      .sort()
      .join('\n')} ${watch.found}`;
  };
}

/** As the kernel does it. */
export function announceHooks(device: KcovDevice): void {
  for (const [register, value] of [
    [REG.HARTS, HARTS],
    [REG.HOOKS, TABLE],
  ] as const) {
    device.write(register, 4, value >>> 0);
    device.write(register + 4, 4, 0);
  }
}

export interface Records {
  readonly device: number;
  readonly compiled: number;
  /** Digest of what a listener has heard. */
  readonly heard: string;
}

export const HOOK_KINDS = HOOK.COUNT;
