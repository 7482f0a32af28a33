// QEMU as a witness: qemu-system-riscv64 executes one instruction at a time and writes all
// registers before each to a pipe (`-singlestep -d cpu,fpu,nochain`); its RAM is a file that we may
// read. About 70,000 instructions per second.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../io/fail.ts';

/** The registers before one instruction. The buffers are reused for the next. */
export interface QemuState {
  readonly pc: bigint;
  /** lo and hi words of x0..x31, f0..f31. */
  readonly x: Int32Array;
  readonly f: Int32Array;
  /** Undefined: QEMU logs no CSR that cannot be read now, as satp in S-mode with TVM. */
  csr(name: string): bigint | undefined;
}

/** The position of each value in a record. */
interface RecordLayout {
  readonly bytes: number;
  readonly x: number[];
  readonly f: number[];
  readonly csrs: ReadonlyMap<string, number>;
}

const FIRST_WORD = Buffer.from(' pc       ');
/** Facts from the monitor about a machine that has been built and not started. */
const PAUSED = 'VM status: paused';
const DIGITS = 16;
const NIBBLE = new Uint8Array(256);
for (let n = 0; n < 16; n++) NIBBLE[n.toString(16).charCodeAt(0)] = n;

function layoutOf(text: string): RecordLayout {
  const x: number[] = [];
  const f: number[] = [];
  const csrs = new Map<string, number>();
  for (const match of text.matchAll(/([a-z]+)(\d*)(?:\/\w+)?\s+([0-9a-f]{16})/g)) {
    const at = match.index + match[0].length - DIGITS;
    if (match[1] === 'x') x[Number(match[2])] = at;
    else if (match[1] === 'f') f[Number(match[2])] = at;
    else csrs.set(match[1]! + match[2]!, at);
  }
  if (x.length !== 32 || f.length !== 32 || !csrs.has('pc'))
    throw new UserError('qemu: its register log has an unknown form; version 7.2 is known to work');
  return { bytes: text.length, x, f, csrs };
}

/** Eight hexadecimal digits as int32. */
function word(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let n = at; n < at + 8; n++) value = (value << 4) | NIBBLE[bytes[n]!]!;
  return value;
}

class Record implements QemuState {
  readonly x = new Int32Array(64);
  readonly f = new Int32Array(64);
  #bytes!: Uint8Array;
  #at = 0;
  #layout!: RecordLayout;

  set(bytes: Uint8Array, at: number, layout: RecordLayout): void {
    this.#bytes = bytes;
    this.#at = at;
    this.#layout = layout;
    for (let n = 0; n < 32; n++) {
      this.x[2 * n + 1] = word(bytes, at + layout.x[n]!);
      this.x[2 * n] = word(bytes, at + layout.x[n]! + 8);
      this.f[2 * n + 1] = word(bytes, at + layout.f[n]!);
      this.f[2 * n] = word(bytes, at + layout.f[n]! + 8);
    }
  }

  get pc(): bigint {
    return this.csr('pc')!;
  }

  csr(name: string): bigint | undefined {
    const at = this.#layout.csrs.get(name);
    if (at === undefined) return undefined;
    const hi = BigInt(word(this.#bytes, this.#at + at) >>> 0);
    return (hi << 32n) | BigInt(word(this.#bytes, this.#at + at + 8) >>> 0);
  }
}

export interface QemuTraceOptions {
  readonly program: string;
  /** Board options without RAM, log and display. */
  readonly args: readonly string[];
  readonly ramBytes: number;
  /** Instruction addresses that are logged, in QEMU's notation; all when absent. */
  readonly filter?: string;
  /** Replaces QEMU's own device tree. */
  readonly dtb: Uint8Array;
}

export class QemuTrace {
  readonly #options: QemuTraceOptions;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kcovbox-check-'));
  #child: ChildProcess | undefined;

  constructor(options: QemuTraceOptions) {
    this.#options = options;
  }

  /**
   * QEMU's RAM as it is now. It runs some instructions ahead of the records, as many as fit into
   * the pipe.
   */
  readRam(into: Uint8Array): void {
    const file = openSync(join(this.#directory, 'ram'), 'r');
    const chunk = 1 << 24;
    for (let at = 0; at < into.length; at += chunk)
      readSync(file, into, at, Math.min(chunk, into.length - at), at);
    closeSync(file);
  }

  /**
   * Gives every record to `step` until that returns false, or QEMU ends. `atReset` is called before
   * the first instruction, when the images lie in RAM.
   */
  async run(step: (state: QemuState) => boolean, atReset: () => void): Promise<void> {
    const log = join(this.#directory, 'log');
    // QEMU writes a named pipe line by line; it writes stderr, the default, word by word and ten
    // times slower.
    if (spawnSync('mkfifo', [log]).status !== 0) throw new UserError('check: mkfifo is not installed');
    const child = spawn(this.#options.program, this.#board(log), { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    const ended = new Promise(resolve => child.once('close', resolve));
    // The open completes when the other end is opened, too: if QEMU has ended before that, we open
    // it ourselves.
    child.once('exit', () => releaseReader(log));
    let complaint = '';
    child.stderr!.on('data', text => {
      complaint += text;
    });
    startPaused(child, atReset);
    let isAny = false;
    try {
      isAny = await this.#read(createReadStream(log), step);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    if (!isAny) throw new UserError(`check: ${complaint.trim().slice(0, 300) || 'qemu wrote no log'}`);
  }

  #board(log: string): string[] {
    const { args, ramBytes, dtb, filter } = this.#options;
    const ram = join(this.#directory, 'ram');
    const tree = join(this.#directory, 'board.dtb');
    writeFileSync(tree, dtb);
    return [
      ...['-M', 'virt,memory-backend=ram', '-dtb', tree, ...args],
      ...['-object', `memory-backend-file,id=ram,size=${ramBytes},mem-path=${ram},share=on`],
      ...['-m', `${ramBytes >> 20}M`, '-display', 'none', '-serial', 'null'],
      ...['-monitor', 'stdio', '-S', '-no-reboot', '-icount', 'shift=0,sleep=off'],
      ...['-singlestep', '-d', 'cpu,fpu,nochain', '-D', log],
      ...(filter === undefined ? [] : ['-dfilter', filter]),
    ];
  }

  /** True when there was a record. */
  async #read(log: AsyncIterable<Buffer>, step: (state: QemuState) => boolean): Promise<boolean> {
    const record = new Record();
    let layout: RecordLayout | undefined;
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of log) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      for (;;) {
        const end = endOf(bytes, at, layout);
        if (end < 0) break;
        // A record is shorter where a CSR is missing.
        if (layout?.bytes !== end - at) layout = layoutOf(bytes.toString('latin1', at, end));
        record.set(bytes, at, layout);
        if (!step(record)) return true;
        at = end;
      }
      rest = bytes.subarray(at);
    }
    // Nothing follows the last one; QEMU may have been ended in the middle of it.
    if (layout !== undefined && rest.length === layout.bytes) {
      record.set(rest, 0, layout);
      step(record);
    }
    return layout !== undefined;
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    const log = join(this.#directory, 'log');
    if (existsSync(log)) releaseReader(log);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Completes an open of the pipe that waits for its other end; the process could not exit. */
function releaseReader(log: string): void {
  closeSync(openSync(log, constants.O_RDWR | constants.O_NONBLOCK));
}

/** Lets QEMU, started with -S and its monitor on stdio, continue after `atReset`. */
function startPaused(child: ChildProcess, atReset: () => void): void {
  // A write fails if QEMU has ended already; its error message has the reason.
  child.stdin!.on('error', () => {});
  child.stdin!.write('info status\n'); // answered when the machine is built
  let answer = '';
  let isPaused = true;
  child.stdout!.on('data', text => {
    if (isPaused) answer += text;
    if (!isPaused || !answer.includes(PAUSED)) return;
    isPaused = false;
    atReset();
    child.stdin!.write('cont\n');
  });
}

/**
 * The end of the record at `at`, which is the start of the next, or -1 if that is not there yet.
 */
function endOf(bytes: Buffer, at: number, layout: RecordLayout | undefined): number {
  const likely = at + (layout?.bytes ?? 0);
  const { length } = FIRST_WORD;
  if (
    likely > at &&
    likely + length <= bytes.length &&
    FIRST_WORD.compare(bytes, likely, likely + length) === 0
  )
    return likely;
  return bytes.indexOf(FIRST_WORD, at + length);
}
