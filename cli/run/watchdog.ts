// Signals end a run, even when the guest or a device keeps the main thread busy for ever. Between two
// slices the session notices a signal and ends the run in order. A second thread listens to the same
// signals and gives the main thread a grace period. Then it terminates the JavaScript or WebAssembly
// that runs there, through the inspector, whose only other use is debugging; V8 checks for that at
// every loop and call. The event loop of the main thread goes on and sees the signal, with the status
// as documented. A main thread that is blocked in the kernel (the reader of our output has stopped)
// cannot be helped so: it gets SIGKILL, and the terminal gets back the modes that it had at the start.
//
// Until the second thread is up, signals have their default effect, which is to end the process.
import { constants } from 'node:os';
import { isTerminal } from '../io/terminal.ts';

type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const NAMES: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Milliseconds from the signal to the termination, and from that to SIGKILL. */
const GRACE_MS = 500;
const GRACE_KILL_MS = 300;
/** How long the main thread waits for the inspector to hang up: so often so many milliseconds. */
const DISCONNECT_TURNS = 40;
const DISCONNECT_MS = 5;

/**
 * Words of the memory that both threads share: has the main thread seen a signal; the number of the
 * signal for which it was terminated; has the inspector hung up.
 */
const NOTICED = 0;
const SIGNAL = 1;
const DISCONNECTED = 2;

/**
 * The second thread, as text, because a bundler would follow its `require` calls. Node offers
 * `process.on('SIGINT')` to the main thread only; libuv serves every thread, through this binding.
 */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { Signal } = require('internal/test/binding').internalBinding('signal_wrap');
  const { spawnSync } = require('node:child_process');
  const { shared, signals, isTerminal } = workerData;
  const stty = (...args) => spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'] });
  const modes = isTerminal ? String(stty('-g').stdout).trim() : '';
  const kill = () => {
    if (modes) stty(modes);
    process.kill(process.pid, 'SIGKILL');
  };
  const check = signal => {
    if (Atomics.load(shared, ${NOTICED}) !== 0) return;
    Atomics.store(shared, ${SIGNAL}, signal);
    const session = new (require('node:inspector').Session)();
    session.connectToMainThread();
    session.post('Runtime.terminateExecution', () => {
      session.disconnect();
      Atomics.store(shared, ${DISCONNECTED}, 1);
    });
    setTimeout(kill, ${GRACE_KILL_MS});
  };
  parentPort.once('message', () => {
    for (const signal of signals) {
      const handle = new Signal();
      handle.onsignal = () => setTimeout(check, ${GRACE_MS}, signal);
      handle.start(signal);
    }
  });
  parentPort.postMessage('up');
`;

export class Watchdog {
  readonly #shared = new Int32Array(new SharedArrayBuffer(12));
  readonly #onEnd: () => void;
  #worker: import('node:worker_threads').Worker | undefined;
  #status = 0;
  #isStopped = false;
  readonly #onSignal = (_: NodeJS.Signals, signal: number): void => {
    const isSecond = this.#status !== 0;
    this.#status = 128 + signal;
    if (!isSecond && Atomics.load(this.#shared, SIGNAL) === 0) return;
    process.exit(this.#status);
  };
  /** After the termination the main thread is idle, and may exit before it looks at the signal. */
  readonly #onExit = (): void => {
    const signal = Atomics.load(this.#shared, SIGNAL);
    if (signal !== 0) {
      process.exitCode = 128 + signal;
      this.#awaitDisconnect();
    }
    if (signal !== 0 || this.#status !== 0) this.#onEnd();
  };

  /**
   * Waits until the inspector has hung up; else Node would report a debugger that is still connected.
   * It hangs up in an interrupt of this thread, which runs between waits.
   */
  #awaitDisconnect(): void {
    let after = 3;
    for (let i = 0; i < DISCONNECT_TURNS && after > 0; i++) {
      if (Atomics.load(this.#shared, DISCONNECTED) !== 0) after--;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DISCONNECT_MS);
    }
  }

  /** `onEnd` is called when the process ends out of turn. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /**
   * Resolves when signals end the run in order. Where that is not possible (a later Node), they keep
   * their default effect.
   */
  async start(): Promise<void> {
    const { Worker } = await import('node:worker_threads');
    const signals = NAMES.map(name => constants.signals[name]);
    const worker = new Worker(THREAD, {
      eval: true,
      execArgv: ['--expose-internals', '--no-warnings'],
      workerData: { shared: this.#shared, signals, isTerminal: isTerminal(0) },
    });
    this.#worker = worker;
    worker.unref();
    const isUp = await new Promise<boolean>(done => {
      worker.once('message', () => done(true));
      worker.on('error', () => done(false));
      worker.once('exit', () => done(false));
    });
    if (!isUp || this.#isStopped) return;
    for (const name of NAMES) process.on(name, this.#onSignal);
    process.on('exit', this.#onExit);
    worker.postMessage('listen');
  }

  /** Exit status that the signal asks for; 0 = none has come. Whoever asks ends the run in order. */
  get status(): number {
    if (this.#status !== 0) Atomics.store(this.#shared, NOTICED, 1);
    return this.#status;
  }

  stop(): void {
    this.#isStopped = true;
    for (const name of NAMES) process.off(name, this.#onSignal);
    process.off('exit', this.#onExit);
    void this.#worker?.terminate();
  }
}
