// The kcov device: collects coverage records for the thread that each hart runs. Ours;
// specification: kernel/abi/kcov-device.h (registers, layouts) and docs/kcov-dialects.md (meaning
// of the bytes).
//   CURRENT is the context of the accessing hart, 0 = nothing is recorded. The kernel stores it on
//   context switch, on interrupt entry and exit, on enable and disable. Hooks store operands to
//   ARG0 and ARG1 and then the return address to one trigger register per kind of hook.
// The device only collects: the driver (kernel/kcov) decides permissions, errno and lifetimes. All
// its data is in guest RAM; its own state is only the registers with the addresses. It never stores
// outside a buffer, whatever word 0 holds; an address outside RAM sets ERROR and drops that record,
// and the guest continues. Engines may do the same work inline: `hooks` has the addresses,
// kcov-layout.ts the layout of contexts. While a listener outside the guest is registered, they
// must call the device instead: `KcovHooks.report` where there is one, else the real hook.

import type { Device, FdtNode, HartPort, Placement, RamPort, WorkPort } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';
import { CTX, ERR, HART, HOOK, HOOKS, ID_VALUE, REG } from './kcov-layout.ts';
import { type KcovOrigin, kindOf, Origins } from './kcov-origin.ts';
import { KcovFault, readAddress } from './kcov-ram.ts';
import { Recorder } from './kcov-record.ts';
import type { KcovRepeats, KcovRing, KcovRun, MakeRecord, RunsFollowed } from './kcov-ring.ts';
import type { KcovCount, KcovTally, LastRecord } from './kcov-tally.ts';

export const KCOV_MAP = regmap({ title: 'kcov', spec: 'kernel/abi/kcov-device.h', size: REG.SIZE }, [
  { id: 'id', at: REG.ID, bytes: 8, access: 'r', doc: '"kcov" and the version of the layout' },
  { id: 'harts', at: REG.HARTS, bytes: 8, access: 'rw', doc: 'pa of the hart blocks' },
  { id: 'hooks', at: REG.HOOKS, bytes: 8, access: 'rw', doc: 'pa of the table of hook addresses' },
  { id: 'kvaOffset', at: REG.KVA_OFFSET, bytes: 8, access: 'rw', doc: 'kernel va - pa, for switch tables' },
  { id: 'remotes', at: REG.REMOTES, bytes: 8, access: 'rw', doc: 'pa of the remote table, 0 = none' },
  { id: 'current', at: REG.CURRENT, bytes: 8, access: 'rw', doc: 'pa of the context of this hart, 0 = none' },
  { id: 'error', at: REG.ERROR, bytes: 8, access: 'rw', doc: 'first error; a write clears' },
  { id: 'errorAddr', at: REG.ERROR_ADDR, bytes: 8, access: 'r', doc: 'address that was refused' },
  { id: 'arg', at: REG.ARG0, bytes: 8, access: 'w', count: 2, doc: 'hook operand n' },
  {
    id: 'trigger',
    at: REG.TRIGGER,
    bytes: 8,
    access: 'w',
    count: HOOK.COUNT,
    doc: 'records; the value is the return address; n = kind of hook: pc, cmp1/2/4/8, const_cmp1/2/4/8, switch',
  },
]);
type Reg = (typeof KCOV_MAP.rows)[number]['id'];

/** One record as reported to a listener outside the guest. */
export interface KcovRecord extends KcovOrigin {
  kind: 'pc' | 'cmp' | 'edge';
  /** Return address of the hook; for `edge` the edge value. */
  pc: bigint;
  /** `cmp` only, else 0. */
  type: number;
  arg1: bigint;
  arg2: bigint;
  hart: number;
  /** Physical address of the buffer, and the place of the record in it; -1 for a lost one. */
  area: number;
  index: number;
  /** The buffer was full: the guest will never see this record. */
  isLost: boolean;
}

/**
 * Receives every record, for listeners to millions of them: nothing is allocated for a record.
 * `words` are halves of the record's words (pc, edge, or type, arg1, arg2, pc), valid during the
 * call. `index` is its place in the buffer `area`, -1 for a lost one.
 */
export interface KcovSink {
  /**
   * It takes the record and does nothing else: it neither reads registers or the time of the
   * machine nor stops it. Compiled code then reports records without leaving.
   */
  readonly isPassive?: boolean;
  record(origin: KcovOrigin, isEdge: boolean, words: Uint32Array, area: number, index: number): void;
  /**
   * If present, a passive listener takes PCs and comparisons that were stored also later and many
   * at a time; the order of all records stays. Each of them found the record before it in guest
   * memory as it was written, or is the first of its buffer.
   */
  readonly run?: ((origin: KcovOrigin, run: KcovRun) => void) | undefined;
  /** With `run`: it keeps runs that it expects again. */
  readonly repeats?: KcovExpecting | undefined;
  /**
   * If present, a passive listener does not need the order of PCs and comparisons, nor more of
   * their origin than that their contexts had records before: it takes their numbers.
   */
  readonly counts?: KcovCounts | undefined;
}

export interface KcovExpecting {
  /** Where it keeps them, once it listens; not called where all records come one by one. */
  use(repeats: KcovRepeats): void;
  /** Runs came as expected, which are not given. */
  readonly followed: RunsFollowed;
}

export interface KcovCounts {
  /** Records of a hook that were not reported one by one. */
  counted(count: KcovCount): void;
  /** The last record of a buffer, in front of the next one there; it may have been reported. */
  last(descriptor: number, record: LastRecord): void;
}

/** The context into which a hart records. */
export interface KcovContext {
  /** Physical address, constant for the lifetime of the context. */
  address: number;
  /** KCOV_RECORD_* bits. */
  mode: number;
  tid: number;
  pid: number;
  context: KcovOrigin['context'];
  handle: bigint;
}

/** A hart begins to record into another context, or stops. */
export interface KcovSwitch {
  hart: number;
  before: KcovContext | undefined;
  after: KcovContext | undefined;
}

/** The addresses of the kernel's hooks, as the kernel announced them. */
export interface KcovHooks {
  /** Virtual address of each hook, by kind. */
  addresses: readonly bigint[];
  /** Bytes from tp to the pointer to the live context. */
  liveOffset: number;
  /** Virtual address of the variable that holds the device's base, 0 in it = no device. */
  baseVar: bigint;
  /** Kernel virtual = physical + this. */
  kvaOffset: bigint;
  /** Physical address of the hart blocks. */
  harts: number;
  /**
   * Present while there is a passive listener: records are not made inline, but by this function,
   * in the current context and with operands latched in it. A switch must be of the Linux form,
   * with a sound table of at most LIMIT.SWITCH_CASES cases, and all its records must find room.
   */
  report?: MakeRecord;
  /** Counts records that need no report. */
  tally?: KcovTally;
}

/**
 * Work of a change of the hook table, on every engine: dropping all compiled code costs the host
 * about 100 us, as long as this many bytes moved.
 */
export const PUBLISH_WORK = 2 ** 16;

export interface KcovPorts {
  ram: RamPort;
  hart: HartPort;
  /**
   * Receives the number of cases and chain steps of a hook, at most LIMIT.SWITCH_CASES +
   * LIMIT.SEEN_STEPS, and PUBLISH_WORK for a store that changes the hook table.
   */
  work?: WorkPort;
  /** Updates an engine's copy of CURRENT: the host address of the hart's context, 0 = none. */
  publish?(hart: number, hostAddress: number): void;
  /** The hook table changed; undefined = every hook must reach the device. */
  publishHooks?(hooks: KcovHooks | undefined): void;
  /** A ring for records of compiled code, which calls `slow` for the others, and `full`. */
  ring?(slow: MakeRecord, full: () => void): KcovRing | undefined;
  /** For a listener that counts. */
  tally?(): KcovTally | undefined;
}

/** Words of the registers `hooks`, `harts` and `kvaOffset`, and of the table. */
const HOOK_REGISTERS = 6;
const HOOK_WORDS = HOOK_REGISTERS + HOOKS.SIZE / 4;

export class KcovDevice implements Device {
  readonly name = 'kcov';
  /** No halves: an interrupt or another hart could come between them. */
  readonly widths = [8] as const;
  readonly #ports: KcovPorts;
  readonly #recorder: Recorder;
  readonly #origins: Origins;
  /** The rw registers, as low and high halves. */
  #regs = emptyRegs();
  #hooks: KcovHooks | undefined;
  /** Registers and words of RAM that `#hooks` follows from: when it was made, and now. */
  readonly #hookWords = { made: new Uint32Array(HOOK_WORDS), now: new Uint32Array(HOOK_WORDS) };
  /** The table that compiled code knows, as text. */
  #published = '';
  #onSwitch: ((change: KcovSwitch) => void) | undefined;
  #isPassive = false;
  readonly #report: MakeRecord = (kind, pcLo, pcHi) => this.trigger(kind, pcLo >>> 0, pcHi >>> 0);
  /** Made for the first listener that takes runs. */
  #ring: KcovRing | undefined;
  /** The listener, if it takes runs. */
  #runs: KcovSink | undefined;
  /** Made for the first listener that counts. */
  #tally: KcovTally | undefined;
  /** The listener, if it counts. */
  #counts: KcovCounts | undefined;
  /** Of the last record that the tally knows. */
  #descriptor = 0;
  readonly #give = (run: KcovRun): void => {
    this.#recorder.count += run.count;
    this.#runs!.run!(this.#origins.ofWords(run.words, run.origin, run.context, false), run);
  };
  readonly #followed: RunsFollowed = (last, records) => {
    this.#recorder.count += records;
    this.#runs!.repeats!.followed(last, records);
  };
  readonly #makeRoom = (): void => this.#ring!.makeRoom(this.#give, this.#followed);
  /** Low half of the store under way; the bus passes the high one next, and nothing in between. */
  #low = 0;

  constructor(ports: KcovPorts) {
    this.#ports = ports;
    this.#recorder = new Recorder(ports.ram);
    this.#origins = new Origins(ports.ram);
  }

  /** Hook addresses, once the kernel has announced them. */
  get hooks(): KcovHooks | undefined {
    return this.#hooks;
  }

  /** A listener outside the guest is registered, so no record may bypass the device. */
  get isObserved(): boolean {
    return this.#recorder.sink !== undefined;
  }

  /** Records made by the device, including lost ones; compiled code counts its own. */
  get records(): number {
    return this.#recorder.count + (this.#ring?.pending ?? 0);
  }

  /** Tells the listener of the records that it may take later. */
  flush(): void {
    this.#settle();
    this.#tally?.take(count => this.#counts?.counted(count));
  }

  /** The same of those whose order matters. */
  #settle(): void {
    this.#ring?.take(this.#give, this.#followed);
    this.#tally?.settle(last => this.#counts?.last(this.#descriptor, last));
  }

  /**
   * Reports every record to `listener` from now on; undefined stops. The guest cannot see the
   * difference.
   */
  onRecord(listener: ((record: KcovRecord) => void) | undefined): void {
    this.observe(
      listener && {
        record: (origin, isEdge, words, area, index) =>
          listener(describe(origin, isEdge, words, area, index, this.#ports.hart.current)),
      },
    );
  }

  /** The same for a sink that needs no object for each record. */
  observe(sink: KcovSink | undefined): void {
    this.#forgetRing();
    this.#isPassive = sink?.isPassive === true;
    this.#counts = this.#isPassive ? sink?.counts : undefined;
    this.#runs = this.#isPassive && !this.#counts && sink?.run ? sink : undefined;
    if (this.#counts) this.#tally ??= this.#ports.tally?.();
    if (this.#runs) this.#ring ??= this.#ports.ring?.(this.#report, this.#makeRoom);
    this.#ring?.repeats.clear();
    if (this.#ring) this.#runs?.repeats?.use(this.#ring.repeats);
    this.#recorder.sink = sink && {
      record: (ctx, isEdge, words, area, index) => {
        const origin = this.#origins.of(ctx, words.length > 2);
        sink.record(origin, isEdge, words, area, index);
        if (this.#counts) this.#count(ctx, words, area, index, origin);
        if (this.#runs) this.#follow(ctx, words, area, isEdge || origin.isUnique ? -1 : index);
      },
    };
    this.#setHooks(this.#hooks);
  }

  /** Calls `listener` whenever the kernel changes the context of a hart; undefined stops. */
  onSwitch(listener: ((change: KcovSwitch) => void) | undefined): void {
    this.#onSwitch = listener;
  }

  /** The current context of a hart. */
  contextOf(hart: number): KcovContext | undefined {
    return this.#contextAt(this.#current(hart));
  }

  /** A hook of the given kind returned to this address; operands are latched already. */
  trigger(kind: number, pcLo: number, pcHi: number): void {
    this.#settle();
    const ctx = this.#current();
    if (ctx === 0) return;
    try {
      if (kind === HOOK.PC) this.#recorder.pc(ctx, pcLo, pcHi);
      else this.#recorder.cmp(ctx, kind, pcLo, pcHi, toBig(this.#regs.kvaOffset));
    } catch (e) {
      if (!(e instanceof KcovFault)) throw e;
      this.#refuse(e.code, e.address);
    } finally {
      const work = this.#recorder.takeWork();
      if (work > 0) this.#ports.work?.spend(work);
    }
  }

  read(offset: number, bytes: number): number {
    return KCOV_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    // The map below would do the same; hooks come here for every record and its operands.
    const isWord = bytes === 4 && offset % 4 === 0;
    if (isWord && offset >= REG.TRIGGER && offset < REG.TRIGGER + 8 * HOOK.COUNT)
      this.#set('trigger', value >>> 0, (offset - REG.TRIGGER) >> 3, (offset >> 2) & 1);
    else if (isWord && offset >= REG.ARG0 && offset < REG.ARG0 + 16)
      this.#set('arg', value >>> 0, (offset - REG.ARG0) >> 3, (offset >> 2) & 1);
    else KCOV_MAP.write(offset, bytes, value, this.#set, this.#get);
  }

  peek(offset: number, bytes: number): number {
    return this.read(offset, bytes);
  }

  reset(): void {
    this.#forgetRing();
    this.#regs = emptyRegs();
    this.#recorder.count = 0;
    this.#loadHooks();
    for (let h = 0; h < this.#ports.hart.count; h++) this.#ports.publish?.(h, 0);
  }

  /** `low` was a latch; it stays, because hashes of the state in recorded runs include it. */
  save(): unknown {
    return { regs: copyOf(this.#regs), low: 0 };
  }

  load(state: unknown): void {
    const s = state as { regs: ReturnType<typeof emptyRegs> };
    this.#forgetRing();
    this.#regs = copyOf(s.regs);
    // Mostly they are as before: a fuzzer goes back to one state a million times.
    const { made, now } = this.#hookWords;
    this.#readHookWords(now);
    if (now.some((word, i) => word !== made[i])) this.#loadHooks();
    // Errors before the snapshot were reported in the earlier run.
    this.#regs.error = [...s.regs.error];
    this.#regs.errorAddr = [...s.regs.errorAddr];
    for (let h = 0; h < this.#ports.hart.count; h++) this.#publish(h);
  }

  fdtNode({ base, size }: Placement): FdtNode {
    return {
      name: `kcov@${base.toString(16)}`,
      props: { compatible: 'kcovbox,kcov', reg: [0, base, 0, size] },
    };
  }

  readonly #get = (id: Reg, _index: number, word: number): number => {
    switch (id) {
      case 'id':
        return word ? Math.floor(ID_VALUE / 0x1_0000_0000) : ID_VALUE >>> 0;
      case 'current': {
        const ctx = this.#current();
        return word ? Math.floor(ctx / 0x1_0000_0000) : ctx >>> 0;
      }
      case 'arg':
      case 'trigger':
        return 0;
      default:
        return this.#regs[id][word] ?? 0;
    }
  };

  readonly #set = (id: Reg, value: number, index: number, word: number): void => {
    if (word === 0) {
      this.#low = value;
      return;
    }
    const lo = this.#low;
    if (id === 'trigger') this.trigger(index, lo, value);
    else if (id === 'arg') this.#latch(index, lo, value);
    else if (id === 'current') this.#setCurrent(value * 0x1_0000_0000 + lo);
    else if (id === 'error') this.#regs.error = this.#regs.errorAddr = [0, 0];
    else this.#setAddress(id, lo, value);
  };

  #setAddress(id: Reg, lo: number, hi: number): void {
    if (id !== 'harts' && id !== 'hooks' && id !== 'kvaOffset' && id !== 'remotes') return;
    this.#forgetRing();
    this.#regs[id] = [lo, hi];
    if (id !== 'remotes') this.#loadHooks();
    if (id !== 'harts') return;
    const pa = hi * 0x1_0000_0000 + lo;
    if (pa % 8 !== 0 || !this.#ports.ram.has(pa, HART.SIZE * this.#ports.hart.count)) {
      this.#regs.harts = [0, 0];
      if (pa !== 0) this.#refuse(ERR.HARTS, pa);
    }
    for (let h = 0; h < this.#ports.hart.count; h++) this.#publish(h);
  }

  /**
   * Operands go to the context, so neither an interrupt nor a switch can mix those of two hooks.
   */
  #latch(index: number, lo: number, hi: number): void {
    const ctx = this.#current();
    if (ctx === 0) return;
    const at = ctx + (index === 0 ? CTX.ARG0 : CTX.ARG1);
    this.#ports.ram.write32(at, lo);
    this.#ports.ram.write32(at + 4, hi);
  }

  /** The ring may take records behind this one, which the device has made; -1 = it may not. */
  #follow(ctx: number, words: Uint32Array, area: number, index: number): void {
    const hart = this.#ports.hart.current;
    if (index < 0) this.#ring?.refuse();
    else this.#ring?.follow(hart, this.#block(hart), ctx, words, area, index);
  }

  /** The tally may count records behind this one; edges are of a unique origin. */
  #count(ctx: number, words: Uint32Array, area: number, index: number, origin: KcovOrigin): void {
    this.#descriptor = origin.descriptor;
    if (origin.isUnique) this.#tally?.refuse();
    else this.#tally?.follow(ctx, words, area, index);
  }

  #forgetRing(): void {
    this.flush();
    this.#ring?.refuse();
    this.#tally?.refuse();
  }

  #block(hart: number): number {
    const base = toNumber(this.#regs.harts);
    return base === 0 ? 0 : base + HART.SIZE * hart + HART.CURRENT;
  }

  /**
   * The valid context of a hart, or 0; the block is RAM and may have been overwritten since it was
   * checked.
   */
  #current(hart = this.#ports.hart.current): number {
    const block = this.#block(hart);
    if (block === 0) return 0;
    const ctx = readAddress(this.#ports.ram, block);
    return this.#isContext(ctx) ? ctx : 0;
  }

  #isContext(pa: number): boolean {
    return pa !== 0 && pa % CTX.ALIGN === 0 && this.#ports.ram.has(pa, CTX.SIZE);
  }

  #setCurrent(pa: number): void {
    const hart = this.#ports.hart.current;
    const block = this.#block(hart);
    if (block === 0) return;
    if (pa !== 0 && !this.#isContext(pa)) {
      this.#refuse(ERR.CONTEXT, pa);
      pa = 0;
    }
    if (this.#onSwitch || this.#tally) this.#settle();
    this.#tally?.refuse();
    const before = this.#onSwitch && this.contextOf(hart);
    this.#ports.ram.write32(block, pa >>> 0);
    this.#ports.ram.write32(block + 4, Math.floor(pa / 0x1_0000_0000));
    this.#publish(hart);
    this.#onSwitch?.({ hart, before, after: this.contextOf(hart) });
  }

  #publish(hart: number): void {
    const ctx = this.#current(hart);
    this.#ports.publish?.(hart, ctx === 0 ? 0 : this.#ports.ram.host(ctx));
  }

  #readHookWords(words: Uint32Array): void {
    const { hooks, harts, kvaOffset } = this.#regs;
    words.set([...hooks, ...harts, ...kvaOffset]);
    const table = toNumber(hooks);
    const { ram } = this.#ports;
    const isThere = ram.has(table, HOOKS.SIZE);
    for (let at = 0; at < HOOKS.SIZE; at += 4)
      words[HOOK_REGISTERS + at / 4] = isThere ? ram.read32(table + at) : 0;
  }

  #loadHooks(): void {
    this.#readHookWords(this.#hookWords.made);
    const table = toNumber(this.#regs.hooks);
    const { ram } = this.#ports;
    if (table === 0 || table % 8 !== 0 || !ram.has(table, HOOKS.SIZE)) {
      this.#setHooks(undefined);
      if (table !== 0) this.#refuse(ERR.HOOKS, table);
      return;
    }
    const addresses = Array.from({ length: HOOK.COUNT }, (_, kind) => ram.read64(table + 8 * kind));
    const liveOffset = Number(BigInt.asIntN(64, ram.read64(table + HOOKS.LIVE_OFFSET)));
    const baseVar = ram.read64(table + HOOKS.BASE_VAR);
    const harts = toNumber(this.#regs.harts);
    this.#setHooks({ addresses, liveOffset, baseVar, kvaOffset: toBig(this.#regs.kvaOffset), harts });
  }

  #setHooks(hooks: KcovHooks | undefined): void {
    this.#hooks = hooks;
    if (hooks) this.#ring?.announce(hooks.kvaOffset);
    const inline = (this.isObserved && !this.#isPassive) || hooks?.harts === 0 ? undefined : hooks;
    // All compiled code is dropped with each publication: a snapshot that changes nothing makes
    // none.
    const isObserved = !this.isObserved ? '' : this.#counts ? 'tally' : this.#ring ? 'ring' : 'device';
    const key = inline ? [isObserved, ...Object.values(inline)].join() : '';
    if (key === this.#published) return;
    this.#published = key;
    this.#ports.work?.spend(PUBLISH_WORK);
    const report = (!this.#counts && this.#ring?.make) || this.#report;
    const tally = this.#counts && this.#tally;
    const listener = { report, ...(tally && { tally }) };
    this.#ports.publishHooks?.(inline && this.isObserved ? { ...inline, ...listener } : inline);
  }

  #refuse(code: number, address: number): void {
    if (this.#regs.error[0] !== ERR.NONE) return;
    this.#regs.error = [code, 0];
    this.#regs.errorAddr = [address >>> 0, Math.floor(address / 0x1_0000_0000) >>> 0];
  }

  #contextAt(ctx: number): KcovContext | undefined {
    if (ctx === 0) return undefined;
    const { ram } = this.#ports;
    return {
      address: ctx,
      mode: ram.read32(ctx + CTX.MODE),
      tid: ram.read32(ctx + CTX.TID),
      pid: ram.read32(ctx + CTX.PID),
      context: kindOf(ram.read32(ctx + CTX.KIND)),
      handle: ram.read64(ctx + CTX.HANDLE),
    };
  }
}

function describe(
  origin: KcovOrigin,
  isEdge: boolean,
  words: Uint32Array,
  area: number,
  index: number,
  hart: number,
): KcovRecord {
  const word = (i: number) => (BigInt(words[2 * i + 1]!) << 32n) | BigInt(words[2 * i]!);
  const isCmp = words.length > 2;
  return {
    ...origin,
    kind: isCmp ? 'cmp' : isEdge ? 'edge' : 'pc',
    pc: word(isCmp ? 3 : 0),
    type: isCmp ? words[0]! : 0,
    arg1: isCmp ? word(1) : 0n,
    arg2: isCmp ? word(2) : 0n,
    hart,
    area,
    index,
    isLost: index < 0,
  };
}

type Pair = [lo: number, hi: number];

function emptyRegs(): Record<'harts' | 'hooks' | 'kvaOffset' | 'remotes' | 'error' | 'errorAddr', Pair> {
  return {
    harts: [0, 0],
    hooks: [0, 0],
    kvaOffset: [0, 0],
    remotes: [0, 0],
    error: [0, 0],
    errorAddr: [0, 0],
  };
}

const copyOf = (regs: ReturnType<typeof emptyRegs>): ReturnType<typeof emptyRegs> => ({
  harts: [...regs.harts],
  hooks: [...regs.hooks],
  kvaOffset: [...regs.kvaOffset],
  remotes: [...regs.remotes],
  error: [...regs.error],
  errorAddr: [...regs.errorAddr],
});

const toNumber = ([lo, hi]: Pair): number => hi * 0x1_0000_0000 + lo;

function toBig([lo, hi]: Pair): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}
