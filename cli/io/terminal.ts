// The user's terminal as the guest's: raw mode, so that Ctrl-C, Ctrl-Z and the arrow keys go to the
// guest; the size of the window; an escape that no guest can disable (Ctrl-A x, as in QEMU). The
// terminal is restored however the run ends.
import { fstatSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { WindowSize } from '../../host/guest.ts';
import type { LiveInput } from './live-input.ts';
import { Waker } from './waker.ts';

/** For modules that only terminals need, and that take longer to load than a small program runs. */
const load = createRequire(import.meta.url);

const CTRL_A = 0x01;
const KEY_QUIT = 'x'.charCodeAt(0);

export class Terminal implements LiveInput {
  #typed: number[] = [];
  #resized = false;
  #isEscape = false;
  readonly #waker = new Waker();
  readonly #onData = (chunk: Buffer): void => this.#type(chunk);
  readonly #onEnd = (): void => this.#quit();
  readonly #onResize = (): void => {
    this.#resized = true;
    this.#waker.wake();
  };
  /**
   * Node would abort when it cannot reset a terminal that has hung up; SIGHUP ends other programs
   * in that case.
   */
  readonly #onExit = (): void => {
    this.#raw(false);
    if (isTerminal(0)) return;
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  };
  readonly #onStop = (): void => this.#suspend();
  readonly #onContinue = (): void => {
    this.#raw(true);
    this.#onResize();
  };
  /** Set when the user asked to leave, or the terminal went away. */
  quit = false;
  /** True if the terminal shows bytes unchanged. */
  isExact = false;
  /** A terminal that hangs up ends the run instead. */
  readonly isOver = false;

  /** The terminal on standard input; undefined if there is none. */
  static open(): Terminal | undefined {
    return isTerminal(0) ? new Terminal() : undefined;
  }

  private constructor() {
    this.#raw(true);
    process.stdin.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onEnd);
    process.stdout.on('resize', this.#onResize);
    process.on('exit', this.#onExit).on('SIGTSTP', this.#onStop).on('SIGCONT', this.#onContinue);
  }

  close(): void {
    this.#raw(false);
    process.stdin.off('data', this.#onData).off('end', this.#onEnd);
    process.stdin.pause();
    process.stdin.unref?.();
    process.stdout.off('resize', this.#onResize);
    process.off('SIGTSTP', this.#onStop).off('SIGCONT', this.#onContinue);
  }

  #raw(isRaw: boolean): void {
    process.stdin.setRawMode(isRaw);
    // Node leaves the terminal's own CR before each LF on, which would move the cursor of programs
    // that draw.
    if (!isRaw) return;
    const { spawnSync } = load('node:child_process') as typeof import('node:child_process');
    const { status } = spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
    this.isExact = status === 0;
  }

  /** Stopped from outside (`kill -TSTP`): the shell gets its terminal restored. */
  #suspend(): void {
    this.#raw(false);
    process.kill(process.pid, 'SIGSTOP');
  }

  #quit(): void {
    this.quit = true;
    this.#waker.wake();
  }

  #type(chunk: Buffer): void {
    for (const byte of chunk) {
      if (this.#isEscape) {
        this.#isEscape = false;
        if (byte === KEY_QUIT) this.quit = true;
        else this.#typed.push(byte); // Ctrl-A Ctrl-A sends one Ctrl-A
      } else if (byte === CTRL_A) this.#isEscape = true;
      else this.#typed.push(byte);
    }
    this.#waker.wake();
  }

  /** Bytes typed since the last call. */
  take(): number[] {
    const bytes = this.#typed;
    this.#typed = [];
    return bytes;
  }

  /** The size, when it has changed since the last call. */
  takeSize(): WindowSize | undefined {
    if (!this.#resized) return undefined;
    this.#resized = false;
    return sizeOf();
  }

  /** Waits for keys or a new size, at most the given milliseconds. */
  async wait(ms: number): Promise<void> {
    if (!(this.#typed.length > 0 || this.#resized || this.quit)) await this.#waker.wait(ms);
  }
}

/**
 * True if a descriptor is a terminal. Node's own test loads its network code, so files, pipes and
 * /dev/null are tested first without it.
 */
export function isTerminal(fd: number): boolean {
  try {
    const status = fstatSync(fd);
    if (!status.isCharacterDevice() || status.rdev === statSync('/dev/null').rdev) return false;
  } catch {
    return false;
  }
  return (load('node:tty') as typeof import('node:tty')).isatty(fd);
}

/** Size of the window; undefined if standard output is not a terminal or does not know it. */
export function sizeOf(): WindowSize | undefined {
  if (!isTerminal(1)) return undefined;
  const { stdout } = process;
  return stdout.isTTY && stdout.rows > 0 && stdout.columns > 0
    ? { rows: stdout.rows, cols: stdout.columns }
    : undefined;
}
