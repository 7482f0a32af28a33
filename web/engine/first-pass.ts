// The first execution of a run: everything that can only be seen in passing is noted with its
// place. Afterwards the timeline goes back and forth and nothing listens any more.
import { type Elf, type ExactCounts, Sha256, type Trace } from '../../coverage/index.ts';
import { KcovboxError, type RunResult, type Timeline } from '../../emulator/index.ts';
import type { RunOutcome } from '../../run/index.ts';
import { Newlines } from '../../run/newlines.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { verdict } from '../../run/verdict.ts';
import type { Growth } from '../protocol.ts';
import { KcovLog } from './kcov-log.ts';
import { Numbers } from './numbers.ts';

/** The guest's output, without the CR of its terminal, with the place at which each byte came. */
export class Printed {
  readonly #bytes = new Numbers();
  readonly #units = new Numbers();
  readonly #hash = new Sha256();
  readonly #newlines = new Newlines(byte => {
    this.#bytes.push(byte);
    this.#units.push(this.#unit());
  });
  readonly #unit: () => number;

  constructor(unit: () => number) {
    this.#unit = unit;
  }

  put(byte: number): void {
    this.#newlines.put(byte);
  }

  end(): { bytes: Uint8Array; units: Float64Array; sha256: string } {
    this.#newlines.end();
    const bytes = Uint8Array.from(this.#bytes.take());
    return { bytes, units: this.#units.take(), sha256: this.#hash.update(bytes).hex() };
  }
}

export interface FirstPass {
  readonly outcome: RunOutcome;
  readonly console: { readonly bytes: Uint8Array; readonly units: Float64Array };
  readonly trace: Trace | undefined;
  readonly growth: Growth;
  readonly log: KcovLog;
  /** Executions of every instruction of the kernel; undefined: it has no hooks. */
  readonly exact: ExactCounts | undefined;
}

/** The parts of a run that are looked at. */
interface Watched {
  /** Undefined: the kernel does not record with kcov. */
  readonly kcov: { readonly dialect: string; readonly kernel: Elf; readonly test: string } | undefined;
  /** Where the machine counts instructions from (`retired`); undefined: it does not. */
  readonly low: bigint | undefined;
  readonly endsAtReboot: boolean;
}

/** Errors: KcovboxError when the run goes on behind a reboot. */
export function firstPass(
  timeline: Timeline,
  printed: Printed,
  end: RunOutcome,
  { kcov, low, endsAtReboot }: Watched,
): FirstPass {
  const { machine } = timeline;
  const log = new KcovLog();
  const recorder = kcov && new TraceRecorder(kcov.dialect, kcov.kernel, kcov.test, { keepLost: true });
  recorder?.attach(machine, change => log.switched(change, machine.spentNow));
  const known = new Set<number>();
  const units: number[] = [];
  const points: number[] = [];
  const board = recorder && machine.board;
  board?.kcov?.observe({
    record(origin, isEdge, words, area, index) {
      recorder!.record(origin, isEdge, words, area, index);
      log.note(origin, words.length > 2, area, index, machine.spentNow);
      const pc = words[words.length - 2]!;
      if (isEdge || known.has(pc)) return;
      known.add(pc);
      units.push(machine.spentNow);
      points.push(known.size);
    },
  });
  const result = atReboot(timeline.end(), endsAtReboot);
  board?.kcov?.observe(undefined);
  board?.kcov?.onSwitch(undefined);
  const trace = recorder?.finish();
  const { sha256, ...console } = printed.end();
  return {
    outcome: outcomeOf(timeline.machine, { ...judge(result, end), consoleHash: sha256 }),
    console,
    trace,
    growth: { units, points },
    log,
    exact: low === undefined ? undefined : { low, counts: machine.retired!.read() },
  };
}

function atReboot(result: RunResult, isEnd: boolean): RunResult {
  if (result.kind !== 'reset') return result;
  if (isEnd) return { kind: 'exit', status: 0 };
  throw new KcovboxError('input', 'this run reboots its machine: kcovbox replay runs it, this page does not');
}

/** The end that was recorded, where a user ended the run. */
function judge(result: RunResult, { end, status }: RunOutcome): Pick<RunOutcome, 'end' | 'status'> {
  if (end === 'interrupted' && result.kind === 'budget') return { end, status };
  const { outcome, status: own } = verdict(result);
  return { end: outcome, status: own };
}
