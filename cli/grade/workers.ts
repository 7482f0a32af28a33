// The processes that judge a class, each a part of it: the emulator has one thread, and the
// compilers of a process end with it. A worker is this command again; it gets tasks as messages,
// and answers each. It writes no results: those of a worker whose command is gone would be written
// after the next command has removed them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { judge } from '../../grade/judge/judge.ts';
import type { Files, Submission } from '../../grade/judge/lab.ts';
import type { LabScore } from '../../grade/schema.ts';
import type { Lab } from '../../host/lab/lab.ts';
import { workshop } from '../../host/lab/workshop.ts';
import { packageRoot } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { printOf } from './trace.ts';

/** Set in a worker. */
const WORKER = 'KCOVBOX_GRADE_WORKER';

/** Milliseconds in which a process may end in order; a device that loops hears of no signal. */
const PATIENCE_MS = 1000;

/** The same for all tasks of a class. */
export interface Class {
  readonly lab: Lab;
  readonly solution: Files | undefined;
  readonly explains: boolean;
  /** Whether recorded runs of failures are wanted. */
  readonly records: boolean;
}

export interface Task {
  readonly kind: 'judge' | 'trace';
  readonly submission: Submission;
}

export interface Answer {
  readonly score?: LabScore;
  /** Recorded runs and sources by path. */
  readonly files?: readonly (readonly [string, Uint8Array])[];
  /** See `tracePrint`. */
  readonly print?: Set<number>;
}

export async function answer(
  { lab, solution, explains, records }: Class,
  { kind, submission }: Task,
): Promise<Answer> {
  if (kind === 'trace') return { print: await printOf(lab, submission) };
  const files: [string, Uint8Array][] = [];
  const keep = records ? (path: string, bytes: Uint8Array) => void files.push([path, bytes]) : undefined;
  const own = workshop(() => {});
  return { score: await judge(lab, submission, { workshop: own, solution, explains, keep }), files };
}

/** For a message that nobody reads: the other process has ended, and its end says so. */
const unread = (): void => {};

type Message = { readonly answer: Answer } | { readonly error: string };

export const isWorker = (): boolean => process.env[WORKER] !== undefined && process.send !== undefined;

/** The body of a worker: ends when the command does. */
export function serveTasks(): Promise<never> {
  let all: Class | undefined;
  const post = (message: Message): void => void process.send!(message, undefined, undefined, unread);
  process.on('message', (message: Class | Task) => {
    if (!('kind' in message)) {
      all = message;
      return;
    }
    answer(all!, message).then(
      found => post({ answer: found }),
      (error: Error) => post({ error: error.message }),
    );
  });
  process.on('disconnect', () => process.exit());
  return new Promise(() => {});
}

/** Ends a process that may not listen. */
export async function endProcess(child: ChildProcess): Promise<void> {
  const isStarted = child.pid !== undefined;
  if (!isStarted || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(timer);
}

/** A process, and how it ended. One that could not be started has ended, too. */
interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise(resolve => {
    child.on('error', error => resolve(error.message));
    child.on('exit', (status, signal) => resolve(signal ?? `status ${status}`));
  });

export class Workers {
  readonly #workers: Worker[] = [];
  #isEnding = false;

  constructor(all: Class, count: number) {
    const words = [join(packageRoot(), 'bin', 'kcovbox.cjs'), 'grade', '.', '--lab', all.lab.name];
    for (let i = 0; i < count; i++) {
      const child = spawn(process.execPath, words, {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        serialization: 'advanced',
        env: { ...process.env, [WORKER]: '1' },
      });
      this.#workers.push({ child, ended: endOf(child) });
      if (child.pid !== undefined) child.send(all, unread);
    }
  }

  /** Each worker gets tasks as it becomes idle; the answers, by task. Errors: UserError. */
  async share(tasks: readonly Task[], done: (task: number, answer: Answer) => void): Promise<void> {
    const waiting = tasks.entries();
    const work = async (worker: Worker): Promise<void> => {
      for (const [i, task] of waiting) done(i, await this.#ask(worker, task));
    };
    await Promise.all(this.#workers.map(work));
  }

  #ask({ child, ended }: Worker, task: Task): Promise<Answer> {
    return new Promise((resolve, reject) => {
      child.once('message', (message: Message) => {
        if ('answer' in message) resolve(message.answer);
        else reject(new UserError(message.error));
      });
      ended.then(how => {
        // Under `end` nothing follows.
        if (this.#isEnding) return;
        const what =
          child.pid === undefined
            ? `a process cannot be started: ${how}; with -j 1 the command needs none`
            : `the process that judged ${task.submission.name} ended: ${how}`;
        reject(new UserError(`grade: ${what}`));
      });
      // One that has no files left for its pipes has no send() either.
      if (child.pid !== undefined) child.send(task, unread);
    });
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#workers.map(({ child }) => endProcess(child)));
  }
}
