// A GDB remote stub without a socket: bytes in (`receive`), bytes out (`take`), and `run` in place
// of the machine's own.
// Specification: GDB manual, "Remote Protocol". Threads are harts, numbered from 1. Stops are
// exact; stepping follows the machine's schedule, so other harts may run before the stepped one.
// Time goes both ways (timeline/). Debugging changes the results of a run only where GDB writes,
// which a recorded run refuses: virtual time stops while the guest is stopped.

import type { Hart } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';
import type { RunResult } from '../machine/run-result.ts';
import { monitor } from './gdb-monitor.ts';
import { frame, fromHex, type Incoming, PACKET_MAX, Packets, toHex } from './gdb-packets.ts';
import { G_COUNT, readRegister, targetDescription, writeRegister } from './gdb-registers.ts';
import { GdbRun, type Stop, stopReply } from './gdb-run.ts';
import { readMemory, writeMemory } from './guest-memory.ts';
import { Timeline } from './timeline/timeline.ts';
import { WATCH_KINDS } from './watchpoints.ts';

const SIGINT = 2;
/** Breakpoints, so that a client cannot fill the host's memory. */
const BREAKPOINTS_MAX = 1024;
/** A hart that gets no turn for this long is waiting: the step ends without it. */
const STEP_MAX = 1_000_000;

const le64 = (value: bigint): string =>
  toHex(new Uint8Array(new BigUint64Array([BigInt.asUintN(64, value)]).buffer));

export class GdbStub {
  readonly #machine: Machine;
  readonly #packets = new Packets();
  readonly #timeline: Timeline;
  readonly #run: GdbRun;
  readonly #out: string[] = [];
  #needsAck = true;
  #hart = 0;
  #isRunning = false;
  #isAttached = true;
  #isRebooting = false;
  #end: RunResult | undefined;

  /** The machine is stopped until GDB sends `continue`. `timeline`: of the machine. */
  constructor(machine: Machine, timeline = new Timeline(machine)) {
    this.#machine = machine;
    this.#timeline = timeline;
    this.#run = new GdbRun(timeline);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Takes bytes from GDB up to the end of the first packet and executes that at once. One call
   * executes at most one command and adds at most one answer, so that the caller can wait until GDB
   * has read it. Returns the number of bytes taken; the caller passes the rest again. Do not call
   * within `run`.
   */
  receive(bytes: Uint8Array): number {
    for (let i = 0; i < bytes.length; i++) {
      const event = this.#packets.push(bytes[i]!);
      if (!event) continue;
      this.#handle(event);
      return i + 1;
    }
    return bytes.length;
  }

  #handle(event: Incoming): void {
    if (event.kind === 'bad') this.#out.push('-');
    else if (event.kind === 'interrupt') this.#interrupt();
    else {
      if (this.#needsAck) this.#out.push('+');
      const answer = this.#command(event.data);
      if (answer !== undefined) this.#out.push(frame(answer));
    }
  }

  /** The bytes to send. */
  take(): string {
    return this.#out.splice(0).join('');
  }

  /** A debugger connects: the guest stops until the debugger continues it. */
  attach(): void {
    this.#isAttached = true;
    this.#packets.reset();
    this.#out.length = 0;
    this.#isRunning = false;
    this.#needsAck = true;
    this.#hart = this.#machine.scheduler.turn;
  }

  /** The connection is closed: the guest continues without a debugger. */
  detach(): void {
    this.#isAttached = false;
    this.#run.breakpoints.clear();
    this.#run.watchpoints.clear();
    this.#run.abandon();
    this.#isRunning = true;
  }

  /** Runs a piece, unless GDB has stopped the guest. */
  run(units: number, duration = Infinity): RunResult {
    if (!this.#isRunning) return { kind: 'budget' };
    if (this.#isRebooting) this.#timeline.restart();
    this.#isRebooting = false;
    const stop = this.#run.run(units, duration);
    if (stop?.end?.kind === 'reset' && !this.#timeline.isRecorded) {
      this.#isRebooting = true; // by the caller
      return stop.end;
    }
    if (stop) this.#stopped(stop);
    const result = stop?.end ?? this.#machine.stopped ?? { kind: 'budget' };
    // A recorded run is over when nobody wants to go back.
    return this.#isRunning || !this.#timeline.isRecorded ? result : { kind: 'budget' };
  }

  /** Tells GDB, if it listens. */
  #stopped(stop: Stop): void {
    this.#hart = stop.hart;
    const { end } = stop;
    if (!this.#isAttached) return;
    this.#isRunning = false;
    if (end && !this.#timeline.isRecorded) {
      this.#end = end;
      this.#out.push(frame(exitReply(end)));
    } else this.#out.push(frame(stopReply(stop)));
  }

  #interrupt(): void {
    if (!this.#isRunning) return;
    this.#run.abandon();
    this.#isRunning = false;
    this.#hart = this.#machine.scheduler.turn;
    this.#out.push(frame(stopReply({ hart: this.#hart, reason: '' }, SIGINT)));
  }

  get #current(): Hart {
    return this.#machine.harts[this.#hart]!;
  }

  /** The answer; undefined = it comes later. An empty answer means "not supported". */
  #command(data: Uint8Array): string | undefined {
    const text = String.fromCharCode(...data);
    const rest = text.slice(1);
    switch (text[0]) {
      case '?':
        return this.#end ? 'W00' : stopReply({ hart: this.#hart, reason: '' });
      case 'g':
        return Array.from({ length: G_COUNT }, (_, n) => le64(readRegister(this.#current, n)!)).join('');
      case 'G':
        return this.#changed(() => this.#writeAll(rest));
      case 'p': {
        const n = registerNumber(rest);
        const value = n === undefined ? undefined : readRegister(this.#current, n);
        return value === undefined ? 'E01' : le64(value);
      }
      case 'P':
        return this.#changed(() => this.#writeOne(rest));
      case 'm':
        return this.#readMemory(rest);
      case 'M':
      case 'X':
        return this.#changed(() => this.#writeMemory(text, data));
      case 'Z':
      case 'z':
        return this.#breakpoint(text);
      case 'c':
        return this.#continue();
      case 's':
        return this.#step(this.#hart);
      case 'b':
        return this.#reverse(rest);
      case 'H':
        return this.#select(rest);
      case 'T':
        return this.#thread(rest) === undefined ? 'E01' : 'OK';
      case 'D':
        this.detach();
        return 'OK';
      case 'k':
        if (!this.#timeline.isRecorded) this.#machine.stop({ kind: 'exit', status: 0 });
        this.detach();
        return undefined;
      case 'v':
        return this.#verbose(text);
      case 'q':
      case 'Q':
        return this.#query(text);
      default:
        return '';
    }
  }

  #query(text: string): string {
    if (text.startsWith('qSupported')) {
      return `PacketSize=${PACKET_MAX.toString(16)};swbreak+;hwbreak+;vContSupported+;qXfer:features:read+;QStartNoAckMode+;ReverseContinue+;ReverseStep+`;
    }
    if (text === 'QStartNoAckMode') {
      this.#needsAck = false;
      return 'OK';
    }
    if (text.startsWith('qXfer:features:read:target.xml:')) return window(targetDescription(), text);
    if (text === 'qfThreadInfo') return `m${this.#machine.harts.map(h => (h.id + 1).toString(16)).join(',')}`;
    if (text === 'qsThreadInfo') return 'l';
    if (text === 'qC') return `QC${this.#hart + 1}`;
    if (text === 'qAttached') return '1';
    if (text.startsWith('qThreadExtraInfo,')) return this.#describe(text.slice(17));
    if (text.startsWith('qRcmd,')) return this.#monitor(text.slice(6));
    return '';
  }

  #describe(id: string): string {
    const hart = this.#thread(id);
    if (hart === undefined) return 'E01';
    const { waiting } = this.#machine.harts[hart]!;
    return toHex(new TextEncoder().encode(`hart ${hart}${waiting ? ', waits' : ''}`));
  }

  #verbose(text: string): string | undefined {
    if (text === 'vCont?') return 'vCont;c;C;s;S';
    if (!text.startsWith('vCont;')) return '';
    // Actions are "kind[:thread]"; a step of any thread wins, everything else continues.
    const step = text
      .slice(6)
      .split(';')
      .map(action => /^[sS][0-9a-f]*(?::(\w+))?$/.exec(action))
      .find(match => match);
    return step
      ? this.#step(step[1] === undefined ? this.#hart : (this.#thread(step[1]) ?? this.#hart))
      : this.#continue();
  }

  /** Hart of a thread id in hexadecimal; 0 and -1 mean the current one. */
  #thread(id: string): number | undefined {
    if (id === '0' || id === '-1') return this.#hart;
    const hart = Number.parseInt(id, 16) - 1;
    return hart >= 0 && hart < this.#machine.harts.length ? hart : undefined;
  }

  #select(rest: string): string {
    const hart = this.#thread(rest.slice(1));
    if (hart === undefined) return 'E01';
    this.#hart = hart;
    return 'OK';
  }

  #continue(): string | undefined {
    if (this.#end) return 'W00';
    this.#run.start(false);
    this.#isRunning = true;
    return undefined;
  }

  /** `bc` and `bs`. */
  #reverse(what: string): string | undefined {
    if (this.#end) return 'W00';
    if (what === 's') return this.#answer(this.#run.stepBack(this.#hart));
    if (what !== 'c') return '';
    this.#run.start(true);
    this.#isRunning = true;
    return undefined;
  }

  /**
   * Executes one instruction of a hart; the harts before it in the schedule have their turns first.
   */
  #step(hart: number): string {
    if (this.#end) return 'W00';
    const stop = this.#run.step(hart, STEP_MAX);
    if (!stop.end || this.#timeline.isRecorded) return this.#answer(stop);
    this.#end = stop.end;
    return exitReply(stop.end);
  }

  #answer(stop: Stop): string {
    this.#hart = stop.hart;
    return stopReply(stop);
  }

  #monitor(hex: string): string {
    const line = fromHex(hex);
    if (!line) return 'E01';
    // The thread stays: GDB asks for its registers without selecting it again.
    const text = monitor(this.#timeline, this.#current, new TextDecoder().decode(line));
    return toHex(new TextEncoder().encode(text));
  }

  #breakpoint(text: string): string {
    const match = /^([Zz])([0-4]),([0-9a-f]{1,16}),([0-9a-f]{1,8})$/.exec(text);
    if (!match) return '';
    const va = BigInt(`0x${match[3]}`);
    const kind = WATCH_KINDS[Number(match[2]) as keyof typeof WATCH_KINDS];
    if (kind) {
      const bytes = BigInt(`0x${match[4]}`);
      if (match[1] === 'z') this.#run.watchpoints.delete(kind, va, bytes);
      else if (!this.#run.watchpoints.add(kind, va, bytes)) return 'E1c';
      return 'OK';
    }
    const { breakpoints } = this.#run;
    if (match[1] === 'z') breakpoints.delete(va);
    else if (!breakpoints.has(va) && breakpoints.size >= BREAKPOINTS_MAX) return 'E1c';
    else breakpoints.add(va);
    return 'OK';
  }

  /** The past of a run that GDB changes cannot be run again. A recorded run is not changed. */
  #changed(write: () => string): string {
    if (this.#timeline.isRecorded || this.#timeline.isBehind) return 'E01';
    const answer = write();
    if (answer === 'OK') this.#timeline.restart();
    return answer;
  }

  #writeAll(text: string): string {
    const bytes = fromHex(text);
    if (!bytes || bytes.length < 8 * G_COUNT) return 'E01';
    const view = new DataView(bytes.buffer);
    for (let n = 0; n < G_COUNT; n++) writeRegister(this.#current, n, view.getBigUint64(8 * n, true));
    return 'OK';
  }

  #writeOne(text: string): string {
    const [number = '', value = ''] = text.split('=');
    const n = registerNumber(number);
    const bytes = fromHex(value);
    if (n === undefined || !bytes || bytes.length === 0 || bytes.length > 8) return 'E01';
    const wide = new Uint8Array(8);
    wide.set(bytes);
    const word = new DataView(wide.buffer).getBigUint64(0, true);
    return writeRegister(this.#current, n, word) ? 'OK' : 'E01';
  }

  #readMemory(text: string): string {
    const match = /^([0-9a-f]+),([0-9a-f]+)$/.exec(text);
    if (!match) return 'E01';
    const bytes = Math.min(Number.parseInt(match[2]!, 16), PACKET_MAX / 2 - 8);
    const data = readMemory(this.#machine, this.#current, BigInt(`0x${match[1]}`), bytes);
    return data ? toHex(data) : 'E0e';
  }

  #writeMemory(text: string, raw: Uint8Array): string {
    const match = /^[MX]([0-9a-f]+),([0-9a-f]+):/.exec(text);
    if (!match) return 'E01';
    const head = match[0].length;
    const data = text[0] === 'X' ? raw.subarray(head) : fromHex(text.slice(head));
    if (!data || data.length !== Number.parseInt(match[2]!, 16)) return 'E01';
    return writeMemory(this.#machine, this.#current, BigInt(`0x${match[1]}`), data) ? 'OK' : 'E0e';
  }
}

/** Undefined unless the text is a number in GDB's form: hexadecimal digits, no sign. */
const registerNumber = (text: string): number | undefined =>
  /^[0-9a-f]{1,8}$/i.test(text) ? Number.parseInt(text, 16) : undefined;

const exitReply = (end: RunResult): string =>
  `W${(end.kind === 'exit' || end.kind === 'panic' ? end.status & 0xff : 0).toString(16).padStart(2, '0')}`;

/** The part "offset,length" of a long answer: 'm' = more follows, 'l' = last. */
function window(text: string, request: string): string {
  const match = /:([0-9a-f]+),([0-9a-f]+)$/.exec(request);
  if (!match) return 'E01';
  const from = Number.parseInt(match[1]!, 16);
  const to = from + Math.min(Number.parseInt(match[2]!, 16), PACKET_MAX - 8);
  return `${to < text.length ? 'm' : 'l'}${text.slice(from, to)}`;
}
