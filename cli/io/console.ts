// The guest's serial line on this process's standard streams.
// Output: on a terminal byte for byte; otherwise the tty's CR LF becomes the LF that the program wrote, exactly (the guest's
// line discipline puts a CR before every LF, so removing one before each is its inverse).
// Input: what a person types, as it comes (terminal.ts); anything else as a stream of bytes with an end, when the guest has nothing left
// to do but read.
import type { Hash } from 'node:crypto';
import { fstatSync, readSync } from 'node:fs';
import { writeOut } from './output.ts';
import { isTerminal, type Terminal } from './terminal.ts';

const CR = 13;
const LF = 10;
const STDIN = 0;
/** Bytes of a file that are delivered at a time. */
const PIECE = 1 << 16;

export interface ConsoleOptions {
  /** Also keep what was printed. */
  readonly keep?: boolean;
  /** Do not print. */
  readonly silent?: boolean;
  /** Bytes exactly as the UART sent them. */
  readonly binary?: boolean;
  /** Is fed what was printed, after newline conversion. */
  readonly hash?: Hash | undefined;
}

/** Where input that nobody types comes from. */
type Source = 'none' | 'file' | 'pipe';

function sourceOf(): Source {
  try {
    const status = fstatSync(STDIN);
    if (status.isFile()) return 'file';
    return status.isCharacterDevice() && !isTerminal(STDIN) ? 'file' : 'pipe'; // /dev/null, /dev/zero
  } catch {
    return 'none'; // closed
  }
}

export class GuestConsole {
  readonly #options: ConsoleOptions;
  readonly #kept: Buffer[] = [];
  #buffer = Buffer.alloc(1 << 16);
  #length = 0;
  #heldCr = false;
  #hashed: number[] = [];
  #isRaw: boolean;
  #terminal: Terminal | undefined;
  #source: Source = 'none';
  #pending: Buffer[] = [];
  #ended = false;

  constructor(options: ConsoleOptions = {}) {
    this.#options = options;
    this.#isRaw = options.binary ?? false;
  }

  /** One byte of the guest's serial output. */
  put(byte: number): void {
    if (this.#isRaw) this.#emit(byte);
    if (this.#isRaw && !this.#options.hash) return;
    if (this.#heldCr && byte !== LF) this.#converted(CR);
    this.#heldCr = byte === CR;
    if (!this.#heldCr) this.#converted(byte);
  }

  /** One byte after newline conversion: the hash is of those even where others are printed. */
  #converted(byte: number): void {
    if (this.#options.hash) this.#hashed.push(byte);
    if (!this.#isRaw) this.#emit(byte);
  }

  #emit(byte: number): void {
    if (this.#length === this.#buffer.length) this.flush();
    this.#buffer[this.#length++] = byte;
    if (byte === LF) this.flush(); // a line is seen when it is printed, whatever the slice does
  }

  /** Writes what has gathered. */
  flush(): void {
    this.#options.hash?.update(Buffer.from(this.#hashed));
    this.#hashed = [];
    if (this.#length === 0) return;
    const chunk = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    if (this.#options.keep) this.#kept.push(chunk);
    if (!this.#options.silent) writeOut(chunk);
  }

  /** End of the run: everything out, the terminal as it was. Call once, also after errors. */
  close(): void {
    this.#terminal?.close();
    if (this.#source === 'pipe') {
      process.stdin.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error');
      process.stdin.pause();
      process.stdin.unref?.();
    }
    if (this.#heldCr) this.#converted(CR);
    this.#heldCr = false;
    this.flush();
  }

  get text(): string {
    return Buffer.concat(this.#kept).toString('utf8');
  }

  /** Input and window size come from a person's terminal. */
  useTerminal(terminal: Terminal): void {
    this.#terminal = terminal;
    if (terminal.isExact && isTerminal(1)) this.#isRaw = true;
  }

  /** Input comes from a file or a pipe, which may never end: nothing waits here. */
  useStream(): void {
    this.#source = sourceOf();
    if (this.#source === 'none') this.#ended = true;
    if (this.#source !== 'pipe') return;
    const { stdin } = process;
    stdin.on('data', (chunk: Buffer) => {
      this.#pending.push(chunk);
      stdin.pause();
    });
    stdin.on('end', () => {
      this.#ended = true;
    });
    stdin.on('error', () => {
      this.#ended = true;
    });
  }

  /** The next bytes of the stream, if there are any by now. */
  take(): Buffer | undefined {
    if (this.#source === 'file' && !this.#ended) {
      const piece = Buffer.alloc(PIECE);
      const got = readSync(STDIN, piece, 0, PIECE, null);
      if (got > 0) return piece.subarray(0, got);
      this.#ended = true;
    }
    const chunk = this.#pending.shift();
    if (this.#source === 'pipe' && this.#pending.length === 0) process.stdin.resume();
    return chunk;
  }

  /** Is there something to take without waiting? */
  get hasInput(): boolean {
    return this.#pending.length > 0 || this.#ended || this.#source === 'file';
  }

  /** No more input can come. */
  get inputEnded(): boolean {
    return this.#ended && this.#pending.length === 0;
  }
}
