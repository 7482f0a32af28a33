// `--engine lockstep`: a machine with the JIT that drives a second machine with the interpreter.
// Every operation is applied to both; `run` throws a Divergence, whose message is the report, when
// they differ.

import { Lockstep, type Side } from '../engine/lockstep.ts';
import type { InputPort, JournalEntry } from './journal.ts';
import { Machine } from './machine.ts';
import { type Complete, complete, type MachineOptions } from './options.ts';
import type { RunResult } from './run-result.ts';
import type { Snapshot } from './snapshot.ts';

/** A machine with the engine that the options name. */
export const createMachine = (options: MachineOptions): Machine =>
  options.engine === 'lockstep' ? LockstepMachine.create(options) : Machine.create(options);

/** True if the run continues, or can continue when time passes or input comes. */
const goesOn = (result: RunResult): boolean => result.kind === 'budget';

export class LockstepMachine extends Machine {
  readonly reference: Machine;
  #pair: Lockstep<RunResult>;

  static override create(options: MachineOptions): LockstepMachine {
    return new LockstepMachine(complete(options));
  }

  protected constructor(options: Complete) {
    super({ eager: true, ...options, engine: 'jit' });
    this.reference = this.#silent('interp', options.replay ?? []);
    this.#pair = this.#newPair();
  }

  override run(units = Infinity, duration = Infinity): RunResult {
    const { stopsAtUser, stopsAtMark } = this;
    this.reference.stopsAtUser = stopsAtUser;
    this.reference.stopsAtMark = stopsAtMark;
    // Both stop at the same instruction, and the flags tell that they have.
    const isStopped = (): boolean =>
      (stopsAtUser && !this.stopsAtUser) || (stopsAtMark !== undefined && this.stopsAtMark === undefined);
    return this.#pair.run(units, result => goesOn(result) && !isStopped(), duration);
  }

  override input(bytes: Iterable<number>, port?: InputPort): void {
    const copy = [...bytes];
    super.input(copy, port);
    this.reference.input(copy, port);
  }

  override reset(): void {
    super.reset();
    // The constructor of Machine resets before there is a reference.
    if (!this.reference) return;
    this.reference.reset();
    this.#pair = this.#newPair();
  }

  override restore(snapshot: Snapshot): void {
    super.restore(snapshot);
    this.reference.restore(snapshot);
    this.#pair = this.#newPair(snapshot);
  }

  override load(snapshot: Snapshot): void {
    super.load(snapshot);
    this.reference.load(snapshot);
    this.#pair = this.#newPair(snapshot);
  }

  /** `start`: in place of power-on. */
  #newPair(start?: Snapshot): Lockstep<RunResult> {
    const make = (index: 0 | 1): Machine => {
      const machine = this.#silent(index === 0 ? 'jit' : 'interp', this.journal.entries);
      if (start) machine.restore(start);
      return machine;
    };
    // After a reset the earlier input no longer applies, so nothing is run again.
    const isWhole = start !== undefined || this.journal.entries.length === 0;
    return new Lockstep<RunResult>(this.#side(), this.reference, {
      names: ['jit', 'interp'],
      ...(isWhole && { make }),
    });
  }

  #silent(engine: 'jit' | 'interp', replay: readonly JournalEntry[]): Machine {
    const { onConsole, onDeviceLog, runHash, ...rest } = this.options;
    return Machine.create({ eager: true, ...rest, engine, replay });
  }

  /** This machine without the reference. */
  #side(): Side<RunResult> {
    const run = (units: number, duration?: number): RunResult => super.run(units, duration);
    const machine: Machine = this;
    return {
      harts: this.harts,
      ram: this.ram,
      run,
      get spent() {
        return machine.spent;
      },
      get time() {
        return machine.time;
      },
    };
  }
}
