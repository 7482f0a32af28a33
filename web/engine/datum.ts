// A datum that the reader follows: a variable, a register, a word of memory. Which instruction
// wrote it before a moment, which one writes it next, and the values that it had.
//
// Its name is an expression of C, as of a debugger; `$a0`, a register of the hart; or
// `@0x80001000`, the physical address of eight bytes, because a kcov buffer is mapped at other
// places in the program and in the kernel.
import { DebugError } from '../../debug/error.ts';
import type { DebugSession } from '../../debug/session.ts';
import { exhaust, type Hart, type Range, type Store, X_NAMES } from '../../emulator/index.ts';
import type { DatumView, DatumWrite } from '../protocol.ts';
import type { KcovLog } from './kcov-log.ts';
import { kcovStore } from './kcov-store.ts';

const WORD_BYTES = 8;
/** Stores that are listed: the last ones. */
const WRITES_MAX = 8;
/** Units in which a change of a register is looked for, one by one; each time the next number. */
const WINDOWS = [2000, 16_000, 128_000];

type Direction = 'forward' | 'back';
/** An instruction that wrote. */
type Write = Pick<Store, 'unit' | 'hart' | 'pc'>;

interface Datum {
  readonly what: string;
  readonly place: string;
  value(): string;
  write(direction: Direction, from: number): Write | undefined;
  /** Its memory; empty for a register. */
  readonly ranges: readonly Range[];
  /** Can its values in the past be listed? */
  readonly hasHistory: boolean;
}

const hex = (value: bigint): string => `0x${BigInt.asUintN(64, value).toString(16)}`;

/** The machine is afterwards where it was. Errors: DebugError with the reason. */
export class Data {
  readonly #session: DebugSession;
  readonly #placeOf: (pc: bigint) => string;
  readonly #log: KcovLog;
  #followed: Datum | undefined;

  constructor(session: DebugSession, log: KcovLog, placeOf: (pc: bigint) => string) {
    this.#session = session;
    this.#log = log;
    this.#placeOf = placeOf;
  }

  /**
   * The datum is the one that has this name at this moment, also where the name means another. One
   * that does not exist changes nothing.
   */
  follow(what: string): void {
    this.#followed = this.#named(what);
  }

  /** Undefined: none is followed. */
  view(): DatumView | undefined {
    if (!this.#followed) return undefined;
    const followed = this.#followed;
    const { what, place, value, write, hasHistory } = followed;
    const writes: DatumWrite[] = [];
    for (let before = this.#here; hasHistory && writes.length < WRITES_MAX; ) {
      const found = this.#kept(() => write('back', before));
      if (!found) break;
      writes.push(this.#rowOf(found, followed));
      before = found.unit;
    }
    return { what, value: value(), place, writes, isWhole: hasHistory && writes.length < WRITES_MAX };
  }

  /** Undefined: nothing writes it up to the first or the last moment. */
  write(direction: Direction): DatumWrite | undefined {
    if (!this.#followed)
      throw new DebugError('no datum is followed: choose a variable, a register or a word');
    const followed = this.#followed;
    const found = this.#kept(() => followed.write(direction, this.#here));
    return found && this.#rowOf(found, followed);
  }

  get #here(): number {
    return this.#session.timeline.position;
  }

  #rowOf({ unit, hart, pc }: Write, { value, ranges }: Datum): DatumWrite {
    const { timeline } = this.#session;
    return this.#kept(() => {
      timeline.seek(unit + 1);
      const kcov = kcovStore(this.#log, unit, ranges, timeline.machine.ram, this.#placeOf);
      return { unit, hart, place: kcov ?? this.#placeOf(pc), value: value() };
    });
  }

  /** Comes back from wherever `work` leads. */
  #kept<T>(work: () => T): T {
    const here = this.#here;
    try {
      return work();
    } finally {
      this.#session.timeline.seek(here);
    }
  }

  #named(what: string): Datum {
    if (what.startsWith('$')) {
      const n = X_NAMES.indexOf(what.slice(1) as (typeof X_NAMES)[number]);
      if (n < 1) throw new DebugError(`${what} is not a register that can be followed`);
      return this.#register(what, n);
    }
    const [, address] = /^@0x([0-9a-f]{1,12})$/.exec(what) ?? [];
    return address === undefined ? this.#expression(what) : this.#word(what, Number.parseInt(address, 16));
  }

  #expression(what: string): Datum {
    const session = this.#session;
    const { place } = session.evaluate(what);
    if (place?.kind === 'register' && session.level === 0) return this.#register(what, place.n);
    const { type, va, ranges } = session.memoryOf(what);
    for (const range of ranges) session.timeline.checkRange(range);
    return {
      what,
      place: `${type.bytes} bytes at ${hex(va)}`,
      value: () => {
        const { ram } = session.timeline.machine;
        const bytes = Uint8Array.from(ranges.flatMap(({ pa, bytes: size }) => [...ram.read(pa, size)]));
        return session.show({ type, place: { kind: 'memory', va }, bytes });
      },
      write: (direction, from) => this.#store(ranges, direction, from),
      ranges,
      hasHistory: true,
    };
  }

  #word(what: string, pa: number): Datum {
    const { timeline } = this.#session;
    const range = { pa, bytes: WORD_BYTES };
    timeline.checkRange(range);
    return {
      what,
      place: `8 bytes at physical address 0x${pa.toString(16)}`,
      value: () => hex(timeline.machine.ram.read64(pa)),
      write: (direction, from) => this.#store([range], direction, from),
      ranges: [range],
      hasHistory: true,
    };
  }

  #store(ranges: readonly Range[], direction: Direction, from: number): Write | undefined {
    const { timeline } = this.#session;
    timeline.seek(from);
    const found = exhaust(
      direction === 'back'
        ? timeline.backward({ stores: ranges }, from)
        : timeline.forward({ stores: ranges }),
    );
    return found.kind === 'store' ? found : undefined;
  }

  #register(what: string, n: number): Datum {
    const { hart } = this.#session;
    return {
      what,
      place: `register ${X_NAMES[n]} of hart ${hart.id}`,
      value: () => hex(hart.state.getX(n)),
      write: direction => this.#change(hart, n, direction),
      ranges: [],
      hasHistory: false,
    };
  }

  /** Registers are not watched by the engine, so the value is looked at after each unit. */
  #change({ id, state }: Hart, n: number, direction: Direction): Write | undefined {
    const { timeline } = this.#session;
    const here = timeline.position;
    const { first, latest } = timeline;
    for (const window of WINDOWS) {
      const from = direction === 'back' ? Math.max(first, here - window) : here;
      const to = direction === 'back' ? here : Math.min(latest, here + window);
      let found: Write | undefined;
      timeline.seek(from);
      while (timeline.position < to) {
        const [unit, pc, before] = [timeline.position, state.pc, state.getX(n)];
        timeline.step();
        if (timeline.position === unit) break; // the end of the run
        if (state.getX(n) === before) continue;
        found = { unit, hart: id, pc };
        if (direction === 'forward') return found;
      }
      if (found) return found;
      if (from === first || to === latest) return undefined;
    }
    throw new DebugError(
      `${X_NAMES[n]} has not changed in the ${WINDOWS.at(-1)} units ${direction === 'back' ? 'before' : 'behind'} this moment`,
    );
  }
}
