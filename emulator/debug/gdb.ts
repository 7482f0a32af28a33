// A GDB remote stub without a socket: bytes in (`receive`), bytes out (`take`), and `run` in place
// of the machine's own.
// Specification: GDB manual, "Remote Protocol". Threads are harts, numbered from 1. Stops are
// exact; stepping follows the machine's schedule, so other harts may run before the stepped one.
// Debugging changes the results of a run only where GDB writes: virtual time stops while the guest
// is stopped.

import type { Hart } from '../hart/index.ts';
import type { Machine, RunResult } from '../machine/machine.ts';
import { Breakpoints } from './breakpoints.ts';
import { frame, fromHex, type Incoming, PACKET_MAX, Packets, toHex } from './gdb-packets.ts';
import { G_COUNT, readRegister, targetDescription, writeRegister } from './gdb-registers.ts';
import { readMemory, writeMemory } from './guest-memory.ts';
import { WATCH_KINDS, type WatchHit, Watchpoints } from './watchpoints.ts';

const SIGTRAP = 5;
const SIGINT = 2;
/**
 * Units between two checks of the connection; and, while an address is not mapped yet, of its page
 * table.
 */
const SLICE = 1_000_000;
const SLICE_UNMAPPED = 2_000;
/** The same while a watchpoint is set. */
const STEPS = 20_000;
/** A hart that gets no turn for this long is waiting: the step ends without it. */
const STEP_MAX = 1_000_000;

const le64 = (value: bigint): string =>
  toHex(new Uint8Array(new BigUint64Array([BigInt.asUintN(64, value)]).buffer));

export class GdbStub {
  readonly #machine: Machine;
  readonly #packets = new Packets();
  readonly #breakpoints: Breakpoints;
  readonly #watchpoints: Watchpoints;
  readonly #out: string[] = [];
  #needsAck = true;
  #hart = 0;
  #isRunning = false;
  #end: RunResult | undefined;

  /** The machine is stopped until GDB sends `continue`. */
  constructor(machine: Machine) {
    this.#machine = machine;
    this.#breakpoints = new Breakpoints(machine);
    this.#watchpoints = new Watchpoints(machine);
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
    this.#packets.reset();
    this.#out.length = 0;
    this.#isRunning = false;
    this.#needsAck = true;
    this.#hart = this.#machine.scheduler.turn;
  }

  /** The connection is closed: the guest continues without a debugger. */
  detach(): void {
    this.#breakpoints.clear();
    this.#watchpoints.clear();
    this.#isRunning = true;
  }

  /** Runs one slice, unless GDB has stopped the guest. */
  run(units: number, duration = Infinity): RunResult {
    if (!this.#isRunning) return { kind: 'budget' };
    const slice = this.#breakpoints.plant() ? SLICE : SLICE_UNMAPPED;
    const watched = this.#watchpoints.isEmpty ? undefined : this.#watch(Math.min(units, STEPS), duration);
    const result = watched?.result ?? this.#machine.run(Math.min(units, slice), duration);
    this.#breakpoints.lift();
    const hit = this.#breakpoints.hit;
    if (watched?.reply && !hit) this.#stop(watched.reply);
    if (hit) {
      this.#hart = hit.id;
      this.#stop(`T0${SIGTRAP}thread:${hit.id + 1};swbreak:;`);
    } else if (result.kind === 'exit' || result.kind === 'panic') {
      this.#end = result;
      this.#stop(`W${(result.status & 0xff).toString(16).padStart(2, '0')}`);
    }
    return result;
  }

  /**
   * Runs instructions one by one until the next one accesses a watched range: GDB expects RISC-V to
   * stop before the access, and steps over it to compare. If the hart's turn begins with this
   * instruction, the access is found after it.
   */
  #watch(units: number, duration: number): { result: RunResult; reply?: string } {
    const { harts, scheduler } = this.#machine;
    const deadline = this.#machine.time + duration;
    const reply = (hit: WatchHit): string => {
      this.#hart = scheduler.turn;
      return `T0${SIGTRAP}thread:${this.#hart + 1};${hit.kind}:${hit.va.toString(16)};`;
    };
    let result: RunResult = { kind: 'budget' };
    for (let n = 0; n < units && result.kind === 'budget' && !this.#breakpoints.hit; n++) {
      if (this.#machine.time >= deadline) break;
      const { turn } = scheduler;
      const ahead = harts.map(hart => this.#watchpoints.ahead(hart));
      if (ahead[turn]) return { result, reply: reply(ahead[turn]) };
      result = this.#machine.run(1, deadline - this.#machine.time);
      const hit = scheduler.turn === turn ? undefined : ahead[scheduler.turn];
      if (hit && harts[scheduler.turn]!.state.pc === hit.next) return { result, reply: reply(hit) };
    }
    return { result };
  }

  #stop(reply: string): void {
    this.#isRunning = false;
    this.#out.push(frame(reply));
  }

  #interrupt(): void {
    if (!this.#isRunning) return;
    this.#hart = this.#machine.scheduler.turn;
    this.#stop(`T0${SIGINT}thread:${this.#hart + 1};`);
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
        return this.#end ? 'W00' : `T0${SIGTRAP}thread:${this.#hart + 1};`;
      case 'g':
        return Array.from({ length: G_COUNT }, (_, n) => le64(readRegister(this.#current, n)!)).join('');
      case 'G':
        return this.#writeAll(rest);
      case 'p': {
        const n = registerNumber(rest);
        const value = n === undefined ? undefined : readRegister(this.#current, n);
        return value === undefined ? 'E01' : le64(value);
      }
      case 'P':
        return this.#writeOne(rest);
      case 'm':
        return this.#readMemory(rest);
      case 'M':
      case 'X':
        return this.#writeMemory(text, data);
      case 'Z':
      case 'z':
        return this.#breakpoint(text);
      case 'c':
        return this.#continue();
      case 's':
        return this.#step(this.#hart);
      case 'H':
        return this.#select(rest);
      case 'T':
        return this.#thread(rest) === undefined ? 'E01' : 'OK';
      case 'D':
        this.detach();
        return 'OK';
      case 'k':
        this.#machine.stop({ kind: 'exit', status: 0 });
        this.#isRunning = true;
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
      return `PacketSize=${PACKET_MAX.toString(16)};swbreak+;hwbreak+;vContSupported+;qXfer:features:read+;QStartNoAckMode+`;
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
    // If the current instruction has a breakpoint, it is executed without the breakpoint.
    const turn = this.#machine.harts[this.#machine.scheduler.turn]!;
    if (this.#breakpoints.has(turn.state.pc)) this.#machine.run(1);
    this.#isRunning = true;
    return undefined;
  }

  /**
   * Executes one instruction of a hart; the harts before it in the schedule have their turns first.
   */
  #step(hart: number): string {
    for (let n = 0; n < STEP_MAX; n++) {
      const result = this.#machine.run(1);
      if (result.kind === 'exit' || result.kind === 'panic') {
        this.#end = result;
        return `W${(result.status & 0xff).toString(16).padStart(2, '0')}`;
      }
      if (this.#machine.scheduler.turn === hart || result.kind !== 'budget') break;
    }
    this.#hart = hart;
    return `T0${SIGTRAP}thread:${hart + 1};`;
  }

  #breakpoint(text: string): string {
    const match = /^([Zz])([0-4]),([0-9a-f]{1,16}),([0-9a-f]{1,8})$/.exec(text);
    if (!match) return '';
    const va = BigInt(`0x${match[3]}`);
    const kind = WATCH_KINDS[Number(match[2]) as keyof typeof WATCH_KINDS];
    if (kind) {
      const bytes = BigInt(`0x${match[4]}`);
      if (match[1] === 'z') this.#watchpoints.delete(kind, va, bytes);
      else if (!this.#watchpoints.add(kind, va, bytes)) return 'E1c';
      return 'OK';
    }
    if (match[1] === 'z') this.#breakpoints.delete(va);
    else if (!this.#breakpoints.add(va)) return 'E1c';
    return 'OK';
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

/** The part "offset,length" of a long answer: 'm' = more follows, 'l' = last. */
function window(text: string, request: string): string {
  const match = /:([0-9a-f]+),([0-9a-f]+)$/.exec(request);
  if (!match) return 'E01';
  const from = Number.parseInt(match[1]!, 16);
  const to = from + Math.min(Number.parseInt(match[2]!, 16), PACKET_MAX - 8);
  return `${to < text.length ? 'm' : 'l'}${text.slice(from, to)}`;
}
