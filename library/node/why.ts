// After which instruction of a recorded run its failure became inevitable.
import { setImmediate as turn } from 'node:timers/promises';
import { backtraceOf } from '../../debug/backtrace.ts';
import { entryOf, executablesOf } from '../../debug/image.ts';
import { bytesOf } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, endOf, guestOf } from '../../host/replay.ts';
import { type Failure, failureOf, failureText, lineFailure } from '../../run/why/failure.ts';
import { fileOf } from '../../run/why/file.ts';
import { BUDGET, FORKS, why as find, SEED, SPREAD } from '../../run/why/why.ts';
import { check, WHY } from './checks.ts';
import { guarded } from './errors.ts';
import type { WhyOptions, WhyPlace } from './options.ts';
import { recordedRun } from './recorded.ts';

/** A call of a backtrace. */
export interface WhyCall {
  function: string;
  /** '' and 0 where unknown. */
  file: string;
  line: number;
  /** In hexadecimal. */
  pc: string;
  isInlined: boolean;
}

/** An event of one side of the decision, and the harts at it. */
export interface WhyEvent {
  /** It is in front of the instruction at this unit. */
  unit: number;
  /** `turn`: another hart goes on. `interrupt`: the hart enters its handler. */
  kind: 'turn' | 'interrupt';
  /** The hart that stops, or is interrupted. */
  from: number;
  /** The hart that goes on. */
  to: number;
  /** Of an interrupt: scause or mcause without its highest bit. */
  cause: number | null;
  /** Calls of the hart that stops, from the innermost out. */
  stops: WhyCall[];
  /** Calls of the hart that goes on. */
  goesOn: WhyCall[];
}

/** The last step of the share of failing forks over one half. */
export interface WhyDecision {
  /** The last place where at most half of the forks fail. */
  before: WhyPlace;
  /** The place behind it; one unit later, unless the budget was spent. */
  after: WhyPlace;
  /** The first place where at least 95 % fail. */
  inevitable: WhyPlace;
  /** The unit at which the run and a fork that does not fail differ; null: none within reach. */
  parting: number | null;
  /** The first event of the recorded run from there on. */
  failing: WhyEvent | null;
  /** The same for the fork. */
  fork: WhyEvent | null;
}

/** The answer, as `kcovbox why -o FILE` writes it (docs/schemas/why.json). */
export interface Why {
  format: 'kcovbox why';
  version: 1;
  /** For people: "exit status 1". */
  failure: string;
  /** `executed`: units of all forks together. */
  forks: { most: number; seed: string; spread: number; executed: number };
  /** The first instruction of the program, and where the run had failed. */
  run: { first: number; failed: number };
  /**
   * `decided`: by one unit. `gradual`: one unit made it likely, later ones inevitable. `always`:
   * forks fail from the first place on. `unfinished`: the budget was spent.
   */
  answer: 'decided' | 'gradual' | 'always' | 'unfinished';
  /** By place. */
  samples: WhyPlace[];
  decision: WhyDecision | null;
}

/**
 * Replays a capsule of a run that failed with later and later forks under other schedules, and
 * finds the instruction after which the failure was inevitable.
 *
 * @param capsule - bytes that `Run.capsule` or `kcovbox run --record` made.
 * @throws KcovboxError of kind `input` if it is damaged, one of `kcovbox boot`, one of its images
 *   is not here, or its run has no such failure.
 */
export const why = (capsule: Uint8Array, options: WhyOptions = {}): Promise<Why> =>
  guarded(async () => {
    check('why', ['capsule', capsule, bytesOf('a capsule')], ['options', options, WHY]);
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const { parsed, description, journal, console, images } = await recordedRun(capsule, options, 'why');
    const { outcome } = parsed.manifest;
    const failure = wanted(options) ?? failureOf(outcome, new TextDecoder().decode(console));
    if (!failure)
      throw new KcovboxError(
        'input',
        'why: the run ended with status 0 and no report of the kernel; ' +
          'say what failed with the option failure',
      );
    const asked = {
      failure: failureText(failure),
      most: options.forks ?? FORKS.usual,
      seed: options.seed ?? SEED,
      spread: options.spread ?? SPREAD.usual,
    };
    const executables = executablesOf(images, description.program.name);
    const answer = await find({
      ...asked,
      failure,
      machine: {
        ...machineOptions(
          guestOf(description, images, ''),
          choiceOf(description, outcome, options.engine ?? 'jit'),
        ),
        replay: journal,
      },
      end: endOf(description, outcome),
      budget: options.budget ?? BUDGET,
      entry: entryOf(executables),
      look: (machine, hart) => backtraceOf(machine, hart, executables),
      progress: async place => {
        onProgress?.(place);
        await turn();
        signal?.throwIfAborted();
      },
    });
    if (!answer)
      throw new KcovboxError('input', `why: the recorded run has another end: not ${asked.failure}`);
    return fileOf(answer, asked);
  });

function wanted({ failure }: WhyOptions): Failure | undefined {
  if (!failure) return undefined;
  return 'console' in failure ? lineFailure(failure.console) : { kind: 'status', status: failure.status };
}
