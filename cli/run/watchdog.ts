// Signals end a run, even when the guest or a device keeps the main thread busy forever. A second
// thread receives them, because its event loop always turns, and tells the main thread by a word of
// shared memory. Between two slices the session reads that word and ends the run in order. Where it
// does not within a grace period, the second thread terminates the JavaScript or WebAssembly that
// runs there, through the inspector, whose only other use is debugging; V8 checks for that at every
// loop and call. The main thread says so itself when it ends: a standard error that nobody reads
// would block the second thread, which still has to end the process then. A main thread that is
// blocked in the kernel (the reader of our output has stopped) cannot be helped so. Then the second
// thread gives the terminal the modes that it had at the start, gives the signal its default effect
// back, and sends it to the process once more.
//
// Until both threads are ready, signals have their default effect, which is to end the process.
import { constants } from 'node:os';
import { tell } from '../../toolchain/index.ts';
import { ENDING_SIGNALS, expectRepeated } from '../io/signals.ts';
import { isTerminal } from '../io/terminal.ts';

/** Milliseconds from the signal to the termination, and from that to the default effect. */
const GRACE_MS = 500;
const GRACE_KILL_MS = 300;
/** How long the main thread waits for the inspector to hang up: so often so many milliseconds. */
const DISCONNECT_TURNS = 40;
const DISCONNECT_MS = 5;

/**
 * Words of the memory that both threads share: the number of the signal; has the main thread seen
 * it; was the main thread terminated; has the inspector hung up; have signals their default effect
 * again.
 */
const SIGNAL = 0;
const NOTICED = 1;
const TERMINATED = 2;
const DISCONNECTED = 3;
const RELEASED = 4;
const WORDS = 5;

/**
 * The second thread, as text, because a bundler would follow its `require` calls. Node offers
 * `process.on('SIGINT')` to the main thread only; libuv serves every thread, through this binding.
 * Modules that few runs need are loaded by those: the thread starts in 25 ms.
 */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { Signal } = require('internal/test/binding').internalBinding('signal_wrap');
  const { shared, signals, isTerminal } = workerData;
  const stty = (...args) =>
    require('node:child_process').spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'] });
  const modes = isTerminal ? String(stty('-g').stdout).trim() : '';
  const handles = signals.map(() => new Signal());
  const end = signal => {
    if (modes) stty(modes);
    handles.forEach(handle => handle.close());
    process.kill(process.pid, signal);
  };
  const check = signal => {
    if (Atomics.load(shared, ${NOTICED}) !== 0) return;
    Atomics.store(shared, ${TERMINATED}, 1);
    const session = new (require('node:inspector').Session)();
    session.connectToMainThread();
    session.post('Runtime.terminateExecution', () => {
      session.disconnect();
      Atomics.store(shared, ${DISCONNECTED}, 1);
      parentPort.postMessage('terminated');
    });
    setTimeout(end, ${GRACE_KILL_MS}, signal);
  };
  let isImpatient = false;
  const receive = signal => {
    if (isImpatient) return end(signal);
    if (Atomics.compareExchange(shared, ${SIGNAL}, 0, signal) !== 0) return;
    setTimeout(() => {
      isImpatient = true;
      check(signal);
    }, ${GRACE_MS});
  };
  const listen = () =>
    handles.forEach((handle, i) => {
      handle.onsignal = () => receive(signals[i]);
      handle.start(signals[i]);
    });
  parentPort.once('message', () => {
    listen();
    parentPort.postMessage('listening');
    // The second of two immediates runs behind a whole poll of the event loop, and libuv serves
    // signals in polls: so those that came before are received first.
    parentPort.once('message', () => setImmediate(() => setImmediate(() => process.exit())));
    parentPort.on('message', message => {
      if (message !== 'release') return;
      handles.forEach(handle => handle.close());
      Atomics.store(shared, ${RELEASED}, 1);
      Atomics.notify(shared, ${RELEASED});
    });
  });
  parentPort.postMessage('up');
`;

export class Watchdog {
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  readonly #onEnd: () => void;
  #worker: import('node:worker_threads').Worker | undefined;
  #isUp = false;
  /** Standard input was a terminal at the start; it may hang up. */
  #isTerminal = false;
  #isStopped = false;
  /** After the termination the main thread is idle, and may exit before it gets a message. */
  readonly #onExit = (): void => {
    const signal = Atomics.load(this.#shared, SIGNAL);
    if (signal === 0) return;
    if (Atomics.load(this.#shared, TERMINATED) !== 0) {
      process.exitCode = 128 + signal;
      this.#awaitDisconnect();
    }
    this.#onEnd();
    if (Atomics.load(this.#shared, TERMINATED) === 0) return;
    const name = ENDING_SIGNALS.find(each => constants.signals[each] === signal);
    tell(
      `kcovbox: interrupted by ${name} in a device or a call of the host that did not return; ` +
        'no file is written\n',
    );
  };

  /**
   * Waits until the inspector has hung up; else Node would report a debugger that is still
   * connected. It hangs up in an interrupt of this thread, which runs between waits.
   */
  #awaitDisconnect(): void {
    let after = 3;
    for (let i = 0; i < DISCONNECT_TURNS && after > 0; i++) {
      if (Atomics.load(this.#shared, DISCONNECTED) !== 0) after--;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DISCONNECT_MS);
    }
  }

  /** At the end, for handlers of the exit that send a signal to the process (io/terminal.ts). */
  #release(): void {
    this.#worker!.postMessage('release');
    Atomics.wait(this.#shared, RELEASED, 0, GRACE_KILL_MS);
  }

  /** `onEnd` is called when the process ends out of turn. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /**
   * Resolves when signals end the run in order. Where that is not possible (a later Node), they
   * keep their default effect.
   */
  async start(): Promise<void> {
    const { Worker } = await import('node:worker_threads');
    if (this.#isStopped) return;
    const signals = ENDING_SIGNALS.map(name => constants.signals[name]);
    this.#isTerminal = isTerminal(0);
    const worker = new Worker(THREAD, {
      eval: true,
      execArgv: ['--expose-internals', '--no-warnings'],
      workerData: { shared: this.#shared, signals, isTerminal: this.#isTerminal },
    });
    this.#worker = worker;
    worker.unref();
    this.#isUp = await new Promise<boolean>(done => {
      worker.once('message', () => done(true));
      worker.on('error', () => done(false));
      worker.once('exit', () => done(false));
    });
    if (!this.#isUp || this.#isStopped) return;
    process.on('exit', this.#onExit);
    const listens = new Promise<void>(done => {
      worker.once('message', () => done());
      worker.once('exit', () => done());
    });
    worker.postMessage('listen');
    await listens;
    if (this.#isStopped) return;
    worker.once('message', () => process.exit(128 + Atomics.load(this.#shared, SIGNAL)));
  }

  /** Exit status that the signal asks for; 0 = none has come. The caller ends the run in order. */
  get status(): number {
    const signal = Atomics.load(this.#shared, SIGNAL);
    if (signal === 0) return 0;
    Atomics.store(this.#shared, NOTICED, 1);
    return 128 + signal;
  }

  /**
   * Resolves when signals have their default effect again. `status` tells of all that came before.
   * If one has come, the second thread stays: the outputs are written now, and who presses Ctrl-C
   * twice must not lose them. A signal behind the grace period ends the process as before.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    Atomics.store(this.#shared, NOTICED, 1);
    process.off('exit', this.#onExit);
    const worker = this.#worker;
    if (!worker) return;
    if (!this.#isUp) return void worker.terminate();
    if (Atomics.load(this.#shared, SIGNAL) !== 0) {
      // Waiting for its messages has made the process wait for the thread again.
      worker.unref();
      expectRepeated(GRACE_MS);
      if (this.#isTerminal) process.prependListener('exit', () => this.#release());
      return;
    }
    worker.ref();
    const hasEnded = new Promise(done => worker.once('exit', done));
    worker.postMessage('stop');
    await hasEnded;
  }
}
