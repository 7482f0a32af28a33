// The guest that executes programs, each from the same snapshot, and whole campaigns in it.
import { HOOK_PC, TraceBuilder } from '../../coverage/index.ts';
import { hasParts, listOf } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import { parseFaultChoice } from '../../emulator/index.ts';
import { campaignSteps, type Progress } from '../../fuzz/campaign/campaign.ts';
import { examine } from '../../fuzz/campaign/crash.ts';
import { budgetOf, Executor } from '../../fuzz/executor/executor.ts';
import { LAYOUT } from '../../fuzz/executor/layout.ts';
import { HALVES } from '../../fuzz/executor/records.ts';
import { HAS_FAIL_NTH, targetMachine } from '../../host/fuzz/target-machine.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { type CampaignConfig, campaignConfig } from '../../run/fuzz/schema.ts';
import { firstIssue } from '../../run/issue.ts';
import { Image, sitesOf } from '../coverage/image.ts';
import { type Trace, toTrace } from '../coverage/trace.ts';
import { check } from './checks.ts';
import { type Descriptions, innerDescriptions, parseDescriptions } from './descriptions.ts';
import { type Execution, executionOf } from './execution.ts';
import {
  CAMPAIGN,
  type CampaignOptions,
  type CampaignProgress,
  EXECUTE,
  type ExecuteOptions,
  type FuzzImages,
  IMAGES,
  OPEN,
  type OpenOptions,
} from './options.ts';
import { A_PROGRAM, innerProgram, type Program } from './program.ts';

/** A program that a campaign has found. */
export interface Found {
  readonly program: Program;
  /** Number of the execution that found it, from 1 on. */
  readonly execution: number;
}

/** The end of a campaign. It is that of `kcovbox fuzz run` with the same configuration. */
export interface Campaign extends CampaignProgress {
  /** Programs that cover what those before them do not, in the order in which they were found. */
  readonly corpus: readonly Found[];
  /** One for each title, with as few calls as show it. */
  readonly finds: readonly (Found & { readonly title: string })[];
  /** Historical bugs of a kernel that has them (`linux+bugs`). */
  readonly bugs: readonly (Found & { readonly bug: string; readonly kind: 'reached' | 'triggered' })[];
  /** Totals behind each epoch. */
  readonly log: readonly CampaignProgress[];
}

interface Parts {
  readonly executor: Executor;
  readonly descriptions: Descriptions;
  readonly images: FuzzImages;
}

let toTarget: (parts: Parts) => FuzzTarget;
const PROGRAMS = listOf(A_PROGRAM);

/** Lets others work between two batches, in Node and in browsers. */
const turn = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

/**
 * A booted guest that executes programs, each from the same snapshot. `openFuzzTarget` makes one,
 * and so does `fuzzTarget` of `kcovbox/node`, which builds its images.
 */
export class FuzzTarget {
  readonly #parts: Parts;
  #image: Image | undefined;

  static {
    toTarget = parts => new FuzzTarget(parts);
  }

  private constructor(parts: Parts) {
    if (!hasParts(parts, 'executor'))
      throw new KcovboxError('input', 'new FuzzTarget: the constructor is private; openFuzzTarget makes one');
    this.#parts = parts;
  }

  /**
   * The guest, for another target of the same executions: in a worker, in a page, in a file. A
   * copy of some MB: nothing that is done to it changes this target.
   */
  get images(): FuzzImages {
    return copyOf(this.#parts.images);
  }

  /** The calls that programs can make. */
  get descriptions(): Descriptions {
    return this.#parts.descriptions;
  }

  /** The kernel, for `measure` of `kcovbox/coverage` and the names of places. */
  get image(): Image {
    this.#image ??= new Image(this.#parts.images.kernel, 'kernel');
    return this.#image;
  }

  /**
   * Executes a program from the snapshot. The execution is a function of the program alone. It
   * blocks until the program ends, at most for 50 million instructions a call.
   *
   * @throws KcovboxError of kind `input` if the program has threads or faults that the target does
   *   not have, or needs more memory than the guest's program has.
   */
  execute(program: Program, options: ExecuteOptions = {}): Execution {
    check('FuzzTarget.execute', ['program', program, A_PROGRAM], ['options', options, EXECUTE]);
    const { record = 'pc', settle = false } = options;
    const { executor } = this.#parts;
    const { execution, title } = examine(executor, innerProgram(program), record, settle);
    return executionOf(executor, program.calls, execution, title);
  }

  /**
   * Executes programs and records the points that they run, as a trace of `image`: each program is
   * a test, `program-1` and so on. For reports, exports and comparisons of `kcovbox/coverage`. The
   * trace counts as lost what a full buffer has dropped, and records at no point of the kernel: a
   * program has written over them.
   *
   * @throws KcovboxError as `execute`.
   */
  trace(programs: readonly Program[]): Trace {
    check('FuzzTarget.trace', ['programs', programs, PROGRAMS]);
    const { executor } = this.#parts;
    const builder = new TraceBuilder({ dialect: 'linux', image: this.image.id });
    const sites = sitesOf(this.image);
    const add = (source: number, area: Uint32Array, begin: number, end: number): void => {
      for (let at = HALVES.pc * (begin + 1); at < HALVES.pc * (end + 1); at += HALVES.pc) {
        const [low, high] = [area[at]!, area[at + 1]!];
        const site = sites?.find((high | 0) * 2 ** 32 + low) ?? -1;
        if (site >= 0 && sites!.hook[site] === HOOK_PC) builder.pcHalves(source, low, high);
        else builder.lost(source, 1);
      }
    };
    let number = 0;
    for (const [i, program] of programs.entries()) {
      const test = `program-${i + 1}`;
      const inner = innerProgram(program);
      const execution = executor.execute(inner, 'pc', true);
      for (const [k, called] of execution.calls.entries()) {
        const thread = called.isSecond ? 2 : 1;
        const syscall = inner.calls[k]!.type.number;
        const source = builder.source({ test, process: 1, thread, syscall, call: ++number });
        const area = executor.recordsOf(called);
        add(source, area, called.begin, called.end);
        // A full buffer: the kernel has dropped what came then.
        if (called.end >= LAYOUT.AREA_WORDS - 1) builder.lost(source, 1);
      }
      const deferred = builder.source({ test, context: 'remote' });
      add(deferred, executor.extra, 0, execution.extra);
      if (execution.extra >= LAYOUT.EXTRA_WORDS - 1) builder.lost(deferred, 1);
    }
    return toTrace(builder.finish());
  }

  /**
   * Runs a campaign of `kcovbox fuzz run` in this thread: the same configuration gives the same
   * corpus and the same finds at the same executions, as with the command and any number of its
   * workers. The command's guest has a second thread only with `--schedule`, and so must the
   * target: with `threads`, programs of one thread run other code of the kernel, too. The event
   * loop has its turn between batches of 64 executions.
   *
   * @throws KcovboxError of kind `input` for a configuration that does not exist, or needs threads
   *   or faults that the target does not have.
   */
  async campaign(options: CampaignOptions): Promise<Campaign> {
    check('FuzzTarget.campaign', ['options', options, CAMPAIGN]);
    const { executions, onEpoch, signal } = options;
    const config = configOf(options);
    signal?.throwIfAborted();
    this.#checkHas(config);
    const { executor, descriptions, images } = this.#parts;
    const steps = campaignSteps({
      config: { ...config, failNth: HAS_FAIL_NTH.test(images.conf) },
      descriptions: innerDescriptions(descriptions),
      executor,
      executions,
      ...(onEpoch && { epoch: progress => onEpoch(totals(progress)) }),
    });
    let step = steps.next();
    while (!step.done) {
      await turn();
      signal?.throwIfAborted();
      step = steps.next();
    }
    const { state, log } = step.value;
    const read = (text: string): Program => descriptions.program(text);
    return {
      ...totals(log.at(-1)!),
      corpus: state.corpus.map(({ text, execution }) => ({ program: read(text), execution })),
      finds: [...state.crashes.values()].map(({ title, text, execution }) => ({
        title,
        program: read(text),
        execution,
      })),
      bugs: [...state.bugs.values()].map(({ bug, kind, text, execution }) => ({
        ...{ bug, kind, execution },
        program: read(text),
      })),
      log: log.map(totals),
    };
  }

  /** Refuses what the campaign needs and the target does not have. */
  #checkHas({ schedule, faults }: CampaignConfig): void {
    const { threads } = this.#parts.images;
    const faultable: readonly string[] = this.#parts.images.faultable;
    if (schedule !== undefined && !threads)
      throw new KcovboxError('input', 'FuzzTarget.campaign: schedule needs a target with threads');
    const wrong = faults?.map(parseFaultChoice).find(({ device }) => !faultable.includes(device));
    if (wrong)
      throw new KcovboxError('input', `FuzzTarget.campaign: faults of ${wrong.device} need it as faultable`);
  }
}

function configOf({ seed = 1n, settle, ...rest }: CampaignOptions): CampaignConfig {
  const { calls, comparisons, schedule, faults } = rest;
  const parsed = campaignConfig.safeParse({
    ...{ calls, comparisons, schedule, faults },
    seed: `0x${seed.toString(16)}`,
    settles: settle,
    budget: budgetOf('own'),
  });
  if (!parsed.success) throw new KcovboxError('input', `FuzzTarget.campaign: ${firstIssue(parsed.error)}`);
  return parsed.data;
}

const totals = ({ covered, corpus, ...rest }: Progress): CampaignProgress => ({
  ...rest,
  edges: covered,
  programs: corpus,
});

const copyOf = (images: FuzzImages): FuzzImages => ({
  ...images,
  kernel: Uint8Array.from(images.kernel),
  initrd: Uint8Array.from(images.initrd),
  faultable: [...images.faultable],
  files: images.files.map(file => ({ ...file })),
});

/**
 * Boots a guest to the snapshot from which programs are executed. Equal images have equal
 * executions and equal campaigns, in Node and in browsers.
 *
 * @throws KcovboxError of kind `input` for descriptions that cannot be read; of kind `machine` if
 *   the guest does not come to the program that executes programs.
 */
export function openFuzzTarget(images: FuzzImages, options: OpenOptions = {}): FuzzTarget {
  check('openFuzzTarget', ['images', images, IMAGES], ['options', options, OPEN]);
  // The caller may change his own.
  const own = copyOf(images);
  const descriptions = parseDescriptions(own.files, own.syscalls);
  const stored = { ...own, kind: 'own' as const, hasThreads: own.threads };
  const machine = targetMachine(stored, options.engine ?? 'jit');
  const executor = new Executor({ machine, canaries: findCanaries(own.kernel) });
  return toTarget({ executor, descriptions, images: own });
}
