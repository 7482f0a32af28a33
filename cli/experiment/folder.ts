// The folder of an experiment: plan.json, the file as it was, images by their hashes, and one
// folder for each finished trial. Everything appears under its name when it is whole, by a rename,
// so that a process that is killed loses its own trial and nothing else; several processes may
// share it.
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { planHash, trialId } from '../../experiment/plan.ts';
import {
  type ExperimentPlan,
  type ExperimentTrial,
  experimentPlan,
  experimentTrial,
  type PlannedTrial,
} from '../../experiment/schema.ts';
import type { FinishedTrial } from '../../experiment/trial.ts';
import { readInput, readText } from '../../host/input.ts';
import { firstIssue } from '../../run/issue.ts';
import { makeFolders, sha256, systemReason, temporaryPath, unfinished } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { undoOf, writeFile } from '../io/output.ts';

export const PLAN = 'plan.json';
export const SOURCE = 'experiment.yaml';
const PARTS = ['images', 'sources'];
const TRIALS = 'trials';
const TRIAL = 'trial.json';
const FILE_MAX = 2 ** 29;

/** A plan with all that its trials need. */
export interface Prepared {
  readonly plan: ExperimentPlan;
  /** Kernels, disks and root file systems by their SHA-256. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  /** C sources by their names, and those of xv6 by their paths, for readers. */
  readonly sources: ReadonlyMap<string, Uint8Array>;
}

/** JSON as the files have it: equal values have equal bytes. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** Where an experiment is kept if --dir does not say: `lost.yaml` in `lost.experiment`. */
export const folderFor = (file: string): string =>
  join(dirname(file), `${basename(file).replace(/\.ya?ml$/i, '')}.experiment`);

function told<T>(path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UserError(`cannot write ${path}: ${systemReason(code) ?? message}`);
  }
}

/** From link(2) in a file system without hard links. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Writes a file whole, of two processes in one of them: false where it is there already. */
function isFirst(path: string, text: string): boolean {
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, text);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    renameSync(temporary, path);
    return true;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Errors: UserError, one line with the file. */
function parse<T>(path: string, what: string, schema: { safeParse(value: unknown): Parsed<T> }): T {
  const text = readText(path, what, FILE_MAX);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`${what} ${path}: not JSON; it is damaged`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`${what} ${path}: ${firstIssue(parsed.error as never)}`);
}
type Parsed<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: unknown };

export class Folder {
  readonly path: string;
  readonly plan: ExperimentPlan;
  readonly hash: string;
  readonly #images = new Map<string, Uint8Array>();

  private constructor(path: string, plan: ExperimentPlan) {
    this.path = path;
    this.plan = plan;
    this.hash = planHash(plan);
  }

  /** One that `create` made. Errors: UserError. */
  static open(path: string): Folder {
    if (!existsSync(join(path, PLAN)))
      throw new UserError(
        `${path} is not the folder of an experiment: it has no ${PLAN}; kcovbox experiment plan makes one`,
      );
    return new Folder(path, parse(join(path, PLAN), 'plan', experimentPlan));
  }

  /**
   * Makes the folder, or opens it where it holds the same plan. Errors: UserError if it holds
   * another plan or other files.
   */
  static create(path: string, { plan, images, sources }: Prepared, source: string): Folder {
    if (existsSync(join(path, PLAN))) return Folder.#reopen(path, plan, source);
    const { undo, isNew } = undoOf(path);
    try {
      told(path, () => {
        const others = (isNew ? [] : readdirSync(path)).filter(
          name => ![...PARTS, SOURCE].includes(name) && !name.endsWith('.tmp'),
        );
        if (others.length > 0)
          throw new UserError(`${path} is not empty and holds no plan; give another folder with --dir`);
        for (const name of PARTS) makeFolders(join(path, name));
      });
      const writeImages = (isWanted: (file: string) => boolean): void => {
        for (const [hash, bytes] of images) {
          const file = join(path, 'images', hash);
          if (isWanted(file)) writeFile(file, bytes);
        }
      };
      writeImages(() => true);
      for (const [name, bytes] of sources) {
        const file = join(path, 'sources', name);
        told(path, () => makeFolders(dirname(file)));
        writeFile(file, bytes);
      }
      // Behind all that trials need. Of processes with different experiments one makes it.
      const isOurs = told(path, () => isFirst(join(path, PLAN), jsonText(plan)));
      if (!isOurs) return Folder.#reopen(path, plan, source);
      // Another process that failed meanwhile has emptied the folder that it had made.
      writeImages(file => !existsSync(file));
      writeFile(join(path, SOURCE), source);
    } catch (error) {
      // Not where another process has made the plan.
      if (isNew && !existsSync(join(path, PLAN))) undo();
      throw error;
    }
    return new Folder(path, plan);
  }

  /** One that holds a plan already. Errors: UserError if it is another one. */
  static #reopen(path: string, plan: ExperimentPlan, source: string): Folder {
    const old = Folder.open(path);
    const now = planHash(plan);
    if (old.hash === now) {
      if (!existsSync(join(path, SOURCE))) writeFile(join(path, SOURCE), source);
      return old;
    }
    throw new UserError(
      `${path} holds the results of plan ${old.hash.slice(0, 16)}, and the file is now plan ` +
        `${now.slice(0, 16)} (a program, a kernel or an option differs); give another folder with --dir`,
    );
  }

  /** Errors: UserError if it is not there or damaged. */
  image(hash: string): Uint8Array {
    let bytes = this.#images.get(hash);
    if (bytes) return bytes;
    const path = join(this.path, 'images', hash);
    bytes = readInput(path, 'image');
    if (sha256(bytes) !== hash) throw new UserError(`image ${path}: damaged: its SHA-256 is not its name`);
    this.#images.set(hash, bytes);
    return bytes;
  }

  pathOf(trial: PlannedTrial): string {
    return join(this.path, TRIALS, trialId(trial));
  }

  isDone(trial: PlannedTrial): boolean {
    return existsSync(join(this.pathOf(trial), TRIAL));
  }

  /** Milliseconds since 1970; undefined if it is not finished. For an estimate only. */
  finishedAt(trial: PlannedTrial): number | undefined {
    return statSync(join(this.pathOf(trial), TRIAL), { throwIfNoEntry: false })?.mtimeMs;
  }

  pending(trials: readonly PlannedTrial[]): PlannedTrial[] {
    return trials.filter(trial => !this.isDone(trial));
  }

  /** Errors: UserError if it is damaged, or not a trial of this plan. */
  read(trial: PlannedTrial): ExperimentTrial {
    const path = join(this.pathOf(trial), TRIAL);
    const read = parse(path, 'trial', experimentTrial);
    const isOurs = read.plan === this.hash && trialId(read) === trialId(trial) && read.seed === trial.seed;
    if (!isOurs) throw new UserError(`trial ${path}: not one of this plan; remove its folder and resume`);
    return read;
  }

  /** The files of a trial by their names. */
  files(trial: PlannedTrial): Map<string, Uint8Array> {
    const path = this.pathOf(trial);
    const names = readdirSync(path).sort();
    return new Map(names.map(name => [name, readFileSync(join(path, name))]));
  }

  /**
   * Keeps a trial. Where another process was faster, the results must be equal. Errors: UserError
   * with status 1 if they differ.
   */
  keep(planned: PlannedTrial, finished: FinishedTrial): void {
    const path = this.pathOf(planned);
    const files = filesOf(finished);
    told(path, () => {
      makeFolders(dirname(path));
      const temporary = temporaryPath(join(dirname(path), `.${basename(path)}`));
      rmSync(temporary, { recursive: true, force: true });
      mkdirSync(temporary);
      for (const [name, bytes] of files) writeFileSync(join(temporary, name), bytes);
      try {
        renameSync(temporary, path);
      } catch (error) {
        rmSync(temporary, { recursive: true, force: true });
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      }
    });
    const difference = differenceOf(this.files(planned), files);
    if (difference !== undefined)
      throw new UserError(`trial ${trialId(planned)} ran twice, and the results differ: ${difference}`, 1);
  }

  /** Removes what killed processes left. */
  sweep(): void {
    for (const { name } of this.plan.variants)
      try {
        const folder = join(this.path, TRIALS, name);
        for (const entry of readdirSync(folder))
          if (/^\.\d+$/.test(unfinished(folder, entry) ?? ''))
            rmSync(join(folder, entry), { recursive: true, force: true });
      } catch {} // no trial of the variant is finished
  }
}

/** The files of a finished trial. */
export const filesOf = ({ trial, files }: FinishedTrial): Map<string, Uint8Array> =>
  new Map([[TRIAL, new TextEncoder().encode(trialText(trial))], ...files]);

/** One line for each list, so that a long trial is a readable file of few lines. */
function trialText(trial: ExperimentTrial): string {
  const fields = Object.entries(trial).map(
    ([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** The first difference between the files of two trials, as a clause. */
export function differenceOf(
  then: ReadonlyMap<string, Uint8Array>,
  now: ReadonlyMap<string, Uint8Array>,
): string | undefined {
  const runsOf = (files: ReadonlyMap<string, Uint8Array>): string[] => {
    try {
      return (JSON.parse(new TextDecoder().decode(files.get(TRIAL))) as ExperimentTrial).runs;
    } catch {
      return [];
    }
  };
  for (const name of new Set([...then.keys(), ...now.keys()])) {
    const [a, b] = [then.get(name), now.get(name)];
    if (a && b && Buffer.compare(a, b) === 0) continue;
    if (!a || !b) return `${name} is there ${a ? 'in the first result' : 'in the second result'} only`;
    const byte = a.findIndex((value, i) => value !== b[i]);
    const [runs, others] = name === TRIAL ? [runsOf(then), runsOf(now)] : [[], []];
    const execution = runs.findIndex((hash, i) => hash !== others[i]);
    const where = execution < 0 ? '' : `; execution ${execution + 1} is the first that differs`;
    return `${name} differs from byte ${byte < 0 ? Math.min(a.length, b.length) : byte} on${where}`;
  }
  return undefined;
}
