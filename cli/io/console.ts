// The guest's serial line on this process's standard streams. Output: on a terminal byte for byte;
// otherwise the tty's CR LF becomes the LF that the program wrote, exactly (the guest's line
// discipline puts a CR before every LF, so removing one before each is its inverse). Input: typed
// input, or that of a co-process, as it comes (live-input.ts); other input as a stream of bytes
// with an end (run/feed.ts).
import { fstatSync, readSync } from 'node:fs';
import { visible } from '../../emulator/base/words.ts';
import { PIECE } from '../../run/feed.ts';
import { Newlines } from '../../run/newlines.ts';
import { tell } from '../../toolchain/index.ts';
import type { LiveInput } from './live-input.ts';
import { writeOut } from './output.ts';
import { type FilterOptions, ReportFilter } from './report-filter.ts';
import { isTerminal } from './terminal.ts';

const LF = 10;
const STDIN = 0;
/** Milliseconds between two checks of a pipe. */
const LOOK_MS = 3;
/** Milliseconds after which the user is told why the guest waits. */
const NOTICE_NS = 3_000_000_000n;
const UNHEARD =
  'kcovbox: standard output is closed or full; the run goes on for its files, and Ctrl-C ends it\n';

export interface ConsoleOptions {
  /** Also keep what was printed. */
  readonly keep?: boolean;
  /** Do not print. */
  readonly silent?: boolean;
  /** Bytes exactly as the UART sent them. */
  readonly binary?: boolean;
  /** Receives the printed bytes, after newline conversion. */
  readonly log?: { update(chunk: Uint8Array): void } | undefined;
  /** The output before this one ended with a CR that was not printed (Newlines). */
  readonly hasCr?: boolean | undefined;
  /** Is called with each line when it is complete, without its end. */
  readonly line?: ((text: string) => void) | undefined;
  /**
   * The run has files to write: a standard output that fails does not end it. `check` tells.
   */
  readonly hasFiles?: boolean | undefined;
  /** Source lines for reports, in what is printed; absent: print the bytes as they are. */
  readonly notes?: Pick<FilterOptions, 'needs' | 'load'> | undefined;
}

/** The source of input that is not typed. */
type Source = 'none' | 'file' | 'pipe';

function sourceOf(): Source {
  try {
    const status = fstatSync(STDIN);
    if (status.isFile()) return 'file';
    // Character devices such as /dev/null and /dev/zero count as files.
    return status.isCharacterDevice() && !isTerminal(STDIN) ? 'file' : 'pipe';
  } catch {
    return 'none'; // closed
  }
}

export class GuestConsole {
  readonly #options: ConsoleOptions;
  readonly #kept: Buffer[] = [];
  #buffer = Buffer.alloc(1 << 16);
  #length = 0;
  readonly #newlines: Newlines;
  #logged: number[] = [];
  #isRaw: boolean;
  #live: LiveInput | undefined;
  #source: Source = 'none';
  #pending: Buffer[] = [];
  #ended = false;
  #isReading = false;
  #isPatient = false;
  #filter: ReportFilter | undefined;
  #held: Uint8Array[] | undefined;
  #failed: { readonly error: unknown; readonly at: bigint } | undefined;
  #hasToldFailure = false;

  constructor(options: ConsoleOptions = {}) {
    this.#options = options;
    this.#isRaw = options.binary ?? false;
    const write = (bytes: Uint8Array): void => this.#write(bytes);
    if (options.notes) this.#filter = new ReportFilter({ ...options.notes, write });
    this.#newlines = new Newlines(byte => this.#converted(byte), options.hasCr);
  }

  /** See ConsoleOptions. */
  get hasCr(): boolean {
    return this.#newlines.hasCr;
  }

  /** One byte of the guest's serial output. */
  put(byte: number): void {
    if (this.#isRaw) this.#emit(byte);
    if (this.#isRaw && !this.#options.log) return;
    this.#newlines.put(byte);
  }

  /** One byte after newline conversion: the log has these bytes, even if others are printed. */
  #converted(byte: number): void {
    if (this.#options.log) this.#logged.push(byte);
    if (!this.#isRaw) this.#emit(byte);
  }

  #emit(byte: number): void {
    if (this.#length === this.#buffer.length) this.flush();
    this.#buffer[this.#length++] = byte;
    if (byte !== LF) return;
    this.#options.line?.(this.#buffer.toString('latin1', 0, this.#length).trimEnd());
    this.flush(); // a line appears when it is printed, not at the end of the slice
  }

  /** Writes the buffered bytes. */
  flush(): void {
    this.#options.log?.update(Buffer.from(this.#logged));
    this.#logged = [];
    if (this.#failed) this.#tellFailure();
    if (this.#length === 0) return;
    const chunk = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    if (this.#options.keep) this.#kept.push(chunk);
    if (this.#options.silent) return;
    if (this.#filter) this.#filter.write(chunk);
    else this.#write(chunk);
  }

  #write(bytes: Uint8Array): void {
    if (this.#held) this.#held.push(bytes);
    else if (!this.#failed) this.#print(bytes);
  }

  #print(bytes: Uint8Array): void {
    try {
      writeOut(bytes);
    } catch (error) {
      if (!this.#options.hasFiles) throw error;
      this.#failed = { error, at: process.hrtime.bigint() };
    }
  }

  /** To be called in each slice: a run that goes on unseen tells the reason once. */
  #tellFailure(): void {
    if (this.#hasToldFailure || process.hrtime.bigint() - this.#failed!.at < NOTICE_NS) return;
    this.#hasToldFailure = true;
    tell(UNHEARD);
  }

  /** When the files are written. Errors: that of standard output, if it has failed. */
  check(): void {
    if (this.#failed) throw this.#failed.error;
  }

  /** Keeps what would be printed until `release`, `note` or `close`. */
  hold(): void {
    this.#held ??= [];
  }

  /** Prints what was held, and no longer holds. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const bytes of held) this.#write(bytes);
  }

  /** Resolves when all that was flushed is printed. */
  async settle(): Promise<void> {
    await this.#filter?.settle();
  }

  /** A line that a device logs: on standard error, after what the guest has printed. */
  note(line: string): void {
    this.release();
    this.flush();
    tell(`${visible(line)}${this.#live ? '\r\n' : '\n'}`);
  }

  /** End of the run: writes everything and restores the terminal. Call once, also after errors. */
  close(): void {
    this.#live?.close();
    if (this.#source === 'pipe') {
      process.stdin.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error');
      process.stdin.pause();
      process.stdin.unref?.();
    }
    this.#newlines.end();
    this.release();
    this.flush();
  }

  get text(): string {
    return Buffer.concat(this.#kept).toString('utf8');
  }

  /** Input is delivered as it comes; closing the console closes its source. */
  useLive(live: LiveInput): void {
    this.#live = live;
    if (live.isExact && isTerminal(1)) this.#isRaw = true;
  }

  /** Input comes from a file or a pipe, which is read only when input is requested. */
  useStream(): void {
    this.#source = sourceOf();
    if (this.#source === 'none') this.#ended = true;
  }

  /**
   * The next PIECE bytes of the stream, or what is left of it; empty at its end. Waits for a pipe
   * until `isInterrupted`.
   */
  async takePiece(isInterrupted: () => boolean): Promise<Buffer> {
    const piece = Buffer.alloc(PIECE);
    let length = 0;
    if (this.#source === 'pipe') await this.#receive(isInterrupted);
    else
      while (length < PIECE && !this.#ended) {
        const got = readSync(STDIN, piece, length, PIECE - length, null);
        length += got;
        if (got === 0) this.#ended = true;
      }
    if (this.#source !== 'pipe') return piece.subarray(0, length);
    const all = Buffer.concat(this.#pending);
    this.#pending = all.length > PIECE ? [all.subarray(PIECE)] : [];
    return all.subarray(0, PIECE);
  }

  /**
   * Waits until a piece is complete, or the input ends. If that takes long, it tells the user once:
   * the guest does not run meanwhile.
   */
  async #receive(isInterrupted: () => boolean): Promise<void> {
    const { stdin } = process;
    if (!this.#isReading) {
      this.#isReading = true;
      stdin.on('data', (chunk: Buffer) => {
        this.#pending.push(chunk);
      });
      for (const event of ['end', 'error'])
        stdin.on(event, () => {
          this.#ended = true;
        });
    }
    stdin.resume();
    const start = process.hrtime.bigint();
    const hasPiece = () => this.#pending.reduce((sum, { length }) => sum + length, 0) >= PIECE;
    while (!this.#ended && !hasPiece() && !isInterrupted()) {
      await new Promise(done => setTimeout(done, LOOK_MS));
      if (this.#isPatient || process.hrtime.bigint() - start < NOTICE_NS) continue;
      this.#isPatient = true;
      tell(
        'kcovbox: the guest waits for standard input, a pipe that has not ended: close it, use < /dev/null, or give --interactive to deliver input as it comes\n',
      );
    }
    stdin.pause();
  }
}
