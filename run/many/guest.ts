// A guest that runs many times from snapshots of one run, as `kcovbox run` would run it with empty
// standard input: the same delivery of the input's end, the same budget, the console kept.
import { createMachine, type Machine, type MachineOptions, type RunResult } from '../../emulator/index.ts';
import { Feed, type FeedState } from '../feed.ts';
import type { Ended } from './outcome.ts';

/** Console output that is kept of a run, in bytes: a guest may print without end. */
const TEXT_MAX = 1 << 18;
const VIOLATIONS_MAX = 100;
const NOTHING = { takePiece: () => Promise.resolve(new Uint8Array(0)) };

/** A moment of a run to which it can go back. */
export interface Moment {
  readonly snapshot: ReturnType<Machine['snapshot']>;
  readonly time: number;
  readonly printed: number;
  readonly violations: number;
  readonly feed: FeedState;
  readonly isOver: boolean;
}

export class Guest {
  readonly machine: Machine;
  readonly #console = new Uint8Array(TEXT_MAX);
  #printed = 0;
  #violations: string[] = [];
  #feed: Feed;

  constructor(options: MachineOptions) {
    this.machine = createMachine({
      ...options,
      onViolation: ({ device, rule, doc }) => {
        if (this.#violations.length < VIOLATIONS_MAX)
          this.#violations.push(`PROTOCOL: ${device}: ${rule}: ${doc}`);
      },
      onConsole: byte => {
        if (this.#printed < TEXT_MAX) this.#console[this.#printed++] = byte;
      },
    });
    this.#feed = this.#newFeed();
  }

  #newFeed(): Feed {
    return new Feed(this.machine, NOTHING, { end: 'break', isBusyGuest: false, isInterrupted: () => false });
  }

  save(): Moment {
    const { state: feed, isOver } = this.#feed;
    const at = { printed: this.#printed, violations: this.#violations.length };
    return { snapshot: this.machine.snapshot(), time: this.machine.time, feed, isOver, ...at };
  }

  /** The console before the moment is still there: runs only append to it. */
  goTo(moment: Moment): void {
    this.machine.restore(moment.snapshot);
    this.#printed = moment.printed;
    this.#violations.length = moment.violations;
    this.#feed = this.#newFeed();
    this.#feed.resume(moment.feed, moment.isOver);
  }

  /** Runs until a moment of virtual time, before the guest ends. */
  async runTo(time: number): Promise<void> {
    while (this.machine.time < time) {
      const left = time - this.machine.time;
      if (await this.#piece(Number.POSITIVE_INFINITY, left)) return;
    }
  }

  /**
   * Runs to the first instruction in user mode. False: the guest ended before it, or spent
   * `maxInsns` units since power-on.
   */
  async runToUser(maxInsns = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.machine.stopsAtUser = true;
    while (this.machine.stopsAtUser && !(await this.#isOver(maxInsns)));
    const isThere = !this.machine.stopsAtUser;
    this.machine.stopsAtUser = false;
    return isThere;
  }

  /** Runs to the moment at which the guest writes `mark`. False: as for `runToUser`. */
  async runToMark(mark: number, maxInsns = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.machine.stopsAtMark = mark;
    while (this.machine.stopsAtMark !== undefined && !(await this.#isOver(maxInsns)));
    const isThere = this.machine.stopsAtMark === undefined;
    this.machine.stopsAtMark = undefined;
    return isThere;
  }

  /** Runs on to the first choice of its schedule. False: as for `runToUser`. */
  async runToChoice(maxInsns = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.machine.stopsAtChoice = true;
    while (this.machine.stopsAtChoice && !(await this.#isOver(maxInsns)));
    const isThere = !this.machine.stopsAtChoice;
    this.machine.stopsAtChoice = false;
    return isThere;
  }

  /** Runs a piece. True: the guest has ended, or the units are spent. */
  async #isOver(maxInsns: number): Promise<boolean> {
    const left = maxInsns - this.machine.spent;
    return left <= 0 || (await this.#piece(left, Infinity)) !== undefined;
  }

  /**
   * Runs to the end, or until `maxInsns` units since power-on are spent, or until virtual time
   * `maxTime`: a guest that only waits spends few units.
   */
  async runToEnd(maxInsns: number, maxTime = Number.POSITIVE_INFINITY): Promise<Ended> {
    for (;;) {
      const left = maxInsns - this.machine.spent;
      const duration = maxTime - this.machine.time;
      if (left <= 0 || duration <= 0) return this.#ended({ kind: 'budget' });
      const result = await this.#piece(left, duration);
      if (result) return this.#ended(result);
    }
  }

  /** The result, when it is the end of the run. As in a session of `kcovbox run`. */
  async #piece(units: number, duration: number): Promise<RunResult | undefined> {
    const result = this.machine.run(units, Math.min(this.#feed.duration, duration));
    if (result.kind === 'reset') return { kind: 'budget' }; // it would boot again and again
    if (result.kind !== 'budget' && result.kind !== 'halt') return result;
    const hasGiven = await this.#feed.give(result);
    return !hasGiven && result.kind === 'halt' && this.#feed.isOver ? result : undefined;
  }

  #ended(result: RunResult): Ended {
    const text = new TextDecoder('latin1').decode(this.#console.subarray(0, this.#printed));
    return { text: text.replaceAll('\r\n', '\n'), result, violations: this.#violations.slice() };
  }
}
