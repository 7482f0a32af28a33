// A process that runs trials one after the other: `kcovbox experiment shard --trials -`. It gets
// one name of a trial, runs it, and answers with its name.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';

const ERRORS_MAX = 65_536;

/** A signal ended the process (out of memory, say); the trial may be run again. */
export class KilledProcess extends Error {
  readonly signal: string;
  constructor(signal: string) {
    super(signal);
    this.signal = signal;
  }
}

export class TrialProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<Error | undefined>;
  #answered: ((line: string) => void) | undefined;

  constructor(folder: string) {
    const child = spawn(
      process.execPath,
      [join(packageRoot(), 'bin', 'kcovbox.cjs'), 'experiment', 'shard', folder, '--trials', '-'],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    this.#child = child;
    let errors = '';
    child.stdin.on('error', () => {}); // its end says it too
    child.stderr.on('data', chunk => (errors = `${errors}${chunk}`.slice(-ERRORS_MAX)));
    createInterface({ input: child.stdout }).on('line', line => this.#answered?.(line));
    this.#closed = new Promise(resolve => {
      child.on('error', error => resolve(new UserError(`cannot start a worker: ${error.message}`)));
      child.on('close', (status, signal) => {
        if (signal !== null) resolve(new KilledProcess(signal));
        else if (status !== 0) resolve(failureOf(errors, status));
        else resolve(undefined);
      });
    });
  }

  /**
   * Runs one trial. Errors: UserError of the process, with its status; KilledProcess. The process
   * is of no use afterwards.
   */
  async run(trial: string): Promise<void> {
    const answer = new Promise<true>(resolve => {
      this.#answered = line => {
        if (line === trial) resolve(true);
      };
    });
    this.#child.stdin.write(`${trial}\n`);
    const first = await Promise.race([answer, this.#closed]);
    if (first !== true) throw first ?? new UserError(`the worker of trial ${trial} ended before it`);
  }

  /** Lets it end. Errors: as for `run`. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    const failure = await this.#closed;
    if (failure) throw failure;
  }

  kill(): void {
    this.#child.kill('SIGTERM');
  }
}

function failureOf(errors: string, status: number | null): UserError {
  const last = errors
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^kcovbox: /, '');
  return new UserError(last || `a worker ended with status ${status}`, status ?? undefined);
}
