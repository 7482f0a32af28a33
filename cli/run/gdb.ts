// The socket of the GDB stub (gdb-options.ts). One debugger at a time, on the loopback interface
// only: a client controls the guest.
import { createServer, type Server, type Socket } from 'node:net';
import {
  GdbStub,
  type Machine,
  type RunResult,
  Timeline,
  type TimelineOptions,
} from '../../emulator/index.ts';
import { systemReason, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import type { GdbOptions } from './gdb-options.ts';

/** After the end of the run a debugger has so long to take the last answer. */
const LAST_WORDS_MS = 1000;

export class GdbServer {
  readonly #machine: Machine;
  readonly #server: Server;
  readonly #options: TimelineOptions;
  #timeline: Timeline | undefined;
  #stub: GdbStub | undefined;
  #socket: Socket | undefined;
  #isHeld: boolean;

  private constructor(machine: Machine, options: GdbOptions, timeline: TimelineOptions) {
    this.#machine = machine;
    this.#options = timeline;
    this.#isHeld = options.stopped;
    this.#server = createServer(socket => this.#connect(socket));
  }

  /** `timeline`: what a run that goes both ways needs to know. */
  static async listen(
    machine: Machine,
    options: GdbOptions,
    timeline: TimelineOptions = {},
  ): Promise<GdbServer> {
    const server = new GdbServer(machine, options, timeline);
    await new Promise<void>((done, failed) => {
      server.#server.once('error', (e: NodeJS.ErrnoException) =>
        failed(new UserError(`port ${options.port} for GDB: ${systemReason(e.code) ?? e.message}`)),
      );
      server.#server.listen(options.port, '127.0.0.1', done);
    });
    tell(`kcovbox: waiting for gdb on port ${options.port} (target remote :${options.port})\n`);
    return server;
  }

  /** Does the guest stand, by the debugger's will? */
  get isStanding(): boolean {
    return this.#stub ? !this.#stub.isRunning : this.#isHeld;
  }

  /** Does a debugger decide how long the run goes on? */
  get isAttached(): boolean {
    return this.#socket !== undefined || this.#isHeld;
  }

  /** Is the run in its own past? No input may arrive then. */
  get isBehind(): boolean {
    return this.#timeline?.isBehind ?? false;
  }

  run(units: number, duration: number): RunResult {
    if (!this.#stub) return this.#isHeld ? { kind: 'budget' } : this.#machine.run(units, duration);
    const result = this.#stub.run(units, duration);
    this.#send();
    return result;
  }

  close(): void {
    this.#server.close();
    const socket = this.#socket;
    if (!socket) return;
    const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
    socket.once('close', () => clearTimeout(timer)).end();
  }

  #connect(socket: Socket): void {
    if (this.#socket) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#timeline ??= new Timeline(this.#machine, this.#options);
    this.#stub ??= new GdbStub(this.#machine, this.#timeline);
    this.#isHeld = false;
    this.#stub.attach();
    socket.setNoDelay(true);
    socket.on('data', data => void this.#serve(socket, data));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#socket = undefined;
      this.#stub!.detach();
    });
  }

  /**
   * Packets one by one, each after the answer to the one before has left: a debugger that sends and
   * never reads costs one answer of memory, and one that sends many commands at once lets the rest
   * of the host have its turns.
   */
  async #serve(socket: Socket, data: Uint8Array): Promise<void> {
    socket.pause();
    for (let rest = data; rest.length > 0 && socket === this.#socket; ) {
      rest = rest.subarray(this.#stub!.receive(rest));
      this.#send();
      if (socket.writableNeedDrain) await drained(socket);
      else if (rest.length > 0) await new Promise(setImmediate);
    }
    socket.resume();
  }

  #send(): void {
    const out = this.#stub?.take() ?? '';
    if (out !== '') this.#socket?.write(out, 'latin1');
  }
}

/** Settles when the other side has taken what was written, or is gone. */
const drained = (socket: Socket): Promise<void> =>
  new Promise(done => {
    const settle = (): void => {
      socket.off('drain', settle).off('close', settle);
      done();
    };
    socket.once('drain', settle).once('close', settle);
  });
