// The guest's serial line on this process's standard streams.
// Output: on a raw terminal byte for byte; otherwise the tty's CR LF becomes the LF that the program wrote, exactly (the guest's
// line discipline puts a CR before every LF, so removing one before each is its inverse).
// Input: a terminal is put into raw mode, so that Ctrl-C and the arrow keys belong to the guest, and is restored however the run
// ends; Ctrl-A x leaves, as in QEMU. Anything else than a terminal is delivered as it is, then end-of-file (Ctrl-D).
import { createHash } from 'node:crypto';
import { fstatSync, readFileSync } from 'node:fs';

const CR = 13;
const LF = 10;
const CTRL_A = 1;
const CTRL_D = 4;

export interface ConsoleOptions {
  /** Also keep what was printed. */
  readonly keep?: boolean;
  /** Do not print. */
  readonly silent?: boolean;
  /** Bytes exactly as the UART sent them. */
  readonly binary?: boolean;
}

export class GuestConsole {
  readonly #options: ConsoleOptions;
  readonly #hash = createHash('sha256');
  readonly #kept: Buffer[] = [];
  #buffer = Buffer.alloc(1 << 16);
  #length = 0;
  #heldCr = false;
  #raw = false;
  #pending: number[] = [];
  #ended = false;
  #escape = false;
  /** Set when the user asked to leave with Ctrl-A x. */
  quit = false;

  constructor(options: ConsoleOptions = {}) {
    this.#options = options;
  }

  /** One byte of the guest's serial output. */
  put(byte: number): void {
    if (this.#raw || this.#options.binary) {
      this.#emit(byte);
      return;
    }
    if (this.#heldCr && byte !== LF) this.#emit(CR);
    this.#heldCr = byte === CR;
    if (!this.#heldCr) this.#emit(byte);
  }

  #emit(byte: number): void {
    if (this.#length === this.#buffer.length) this.flush();
    this.#buffer[this.#length++] = byte;
    if (byte === LF) this.flush(); // a line is seen when it is printed, whatever the slice does
  }

  /** Writes what has gathered. A reader that went away (EPIPE) is not our business. */
  flush(): void {
    if (this.#length === 0) return;
    const chunk = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#hash.update(chunk);
    if (this.#options.keep) this.#kept.push(chunk);
    if (!this.#options.silent) process.stdout.write(chunk);
  }

  /** End of the run: everything out, the terminal as it was. Call once, also after errors. */
  close(): void {
    if (this.#heldCr) this.#emit(CR);
    this.#heldCr = false;
    this.flush();
    if (this.#raw) process.stdin.setRawMode(false);
    process.stdin.removeAllListeners('data').removeAllListeners('end');
    process.stdin.pause();
    process.stdin.unref?.();
  }

  /** SHA-256 of the console after newline conversion. */
  get hash(): string {
    return this.#hash.copy().digest('hex');
  }

  get text(): string {
    return Buffer.concat(this.#kept).toString('utf8');
  }

  /**
   * Starts to listen. What a file holds is there at once; a pipe's bytes when they come. Nothing waits here: a pipe
   * that nobody ever closes must not hang a program that does not read.
   */
  attachInput(): void {
    const { stdin } = process;
    if (stdin.isTTY) {
      stdin.setRawMode(true);
      this.#raw = true;
      stdin.on('data', (chunk: Buffer) => this.#type(chunk));
      return;
    }
    try {
      const status = fstatSync(0);
      if (status.isFile()) {
        this.#pending.push(...readFileSync(0), CTRL_D);
        this.#ended = true;
      } else if (status.isCharacterDevice()) {
        this.#pending.push(CTRL_D); // /dev/null
        this.#ended = true;
      } else {
        stdin.on('data', (chunk: Buffer) => this.#pending.push(...chunk));
        stdin.on('end', () => {
          this.#pending.push(CTRL_D);
          this.#ended = true;
        });
      }
    } catch {
      this.#ended = true; // closed standard input
    }
  }

  #type(chunk: Buffer): void {
    for (const byte of chunk) {
      if (this.#escape) {
        this.#escape = false;
        if (byte === 0x78) this.quit = true;
        else this.#pending.push(byte);
      } else if (byte === CTRL_A) this.#escape = true;
      else this.#pending.push(byte);
    }
  }

  /** A person types: what they type arrives at once. Anything else waits until the guest has nothing left to do but read. */
  get isTyped(): boolean {
    return this.#raw;
  }

  /** Bytes typed since the last call. */
  take(): number[] {
    const bytes = this.#pending;
    this.#pending = [];
    return bytes;
  }

  /** No more input can come. */
  get inputEnded(): boolean {
    return this.#ended && this.#pending.length === 0;
  }
}
