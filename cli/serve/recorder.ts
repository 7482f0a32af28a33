// Compiles and records the programs that the page sends, one after the other, each in a process of
// its own with limits: the page gets a capsule, and runs it again itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dialect, packageRoot } from '../../toolchain/index.ts';
import { EXIT_COMPILE } from '../io/fail.ts';

/** Of a program's text, in bytes. */
export const SOURCE_MAX = 256 << 10;
const CAPSULE_MAX = 64 << 20;
const SAID_MAX = 64 << 10;
/** Wall time of the compiler and the run together, in milliseconds. */
const TIME = 60_000;
/** Time to end in order, before the process is killed. */
const GRACE = 2000;
const INSNS = 300_000_000;
const WAITING_MAX = 4;
const NAME = 'program.c';

export interface ProgramRequest {
  readonly source: string;
  readonly dialect: Dialect;
  readonly harts: number;
  readonly args: readonly string[];
}

export type Recorded =
  | { readonly kind: 'capsule'; readonly bytes: Uint8Array }
  /** The words of the compiler. */
  | { readonly kind: 'refused'; readonly said: string }
  | { readonly kind: 'busy' | 'slow' | 'failed'; readonly said: string };

export class Recorder {
  readonly #folder = mkdtempSync(join(tmpdir(), 'kcovbox-serve-'));
  readonly #flags: (folder: string) => Promise<string[]>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #child: ChildProcess | undefined;

  /** `flags`: of the compiler, for a program in this folder. */
  constructor(flags: (folder: string) => Promise<string[]>) {
    this.#flags = flags;
  }

  /** `isWanted` is asked when the turn has come. */
  record(request: ProgramRequest, isWanted: () => boolean): Promise<Recorded> {
    if (this.#waiting >= WAITING_MAX)
      return Promise.resolve({ kind: 'busy', said: 'other programs are being compiled; try again' });
    this.#waiting++;
    const turn = this.#last.then(async (): Promise<Recorded> => {
      if (!isWanted()) return { kind: 'failed', said: 'nobody waits for the program' };
      return this.#run(request);
    });
    this.#last = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }

  async #run({ source, dialect, harts, args }: ProgramRequest): Promise<Recorded> {
    writeFileSync(join(this.#folder, NAME), source);
    const capsule = join(this.#folder, 'program.kcapsule');
    rmSync(capsule, { force: true });
    // Without optimization every line has its code, and every variable its place.
    const flags = ['-O0', ...(await this.#flags(this.#folder))].join(' ');
    const machine = ['--dialect', dialect, '--smp', `${harts}`, '--max-insns', `${INSNS}`];
    const { status, said, isLate } = await this.#kcovbox([
      'run',
      ...machine,
      '--cflags',
      flags,
      '--record',
      capsule,
      NAME,
      '--',
      ...args,
    ]);
    if (isLate) return { kind: 'slow', said: `the program took longer than ${TIME / 1000} s` };
    if (status === EXIT_COMPILE) return { kind: 'refused', said };
    const size = statSync(capsule, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0) return { kind: 'failed', said: said || 'the program was not recorded' };
    if (size > CAPSULE_MAX) return { kind: 'failed', said: 'the run printed too much' };
    return { kind: 'capsule', bytes: readFileSync(capsule) };
  }

  #kcovbox(words: readonly string[]): Promise<{ status: number | null; said: string; isLate: boolean }> {
    return new Promise((done, failed) => {
      const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'kcovbox.cjs'), ...words], {
        cwd: this.#folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      this.#child = child;
      let said = '';
      let isLate = false;
      child.stderr.on('data', (chunk: Buffer) => {
        if (said.length < SAID_MAX) said += chunk.toString();
      });
      const late = setTimeout(() => {
        isLate = true;
        this.#end();
      }, TIME);
      child.on('error', failed).on('close', status => {
        clearTimeout(late);
        this.#child = undefined;
        done({ status, said: said.slice(0, SAID_MAX).replaceAll(`${this.#folder}/`, '').trimEnd(), isLate });
      });
    });
  }

  /** Ends the process that runs; it ends its compilers. */
  #end(): void {
    const child = this.#child;
    child?.kill('SIGTERM');
    setTimeout(() => child?.kill('SIGKILL'), GRACE).unref();
  }

  close(): void {
    this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
