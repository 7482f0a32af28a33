// A command for tests, bundled by them: boots the kernel of argv[3] on a board with a device more,
// at 0x3000_0000, whose reads never return in the way that argv[2] names.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { GuestConsole } from '../../cli/io/console.ts';
import { explain, runSession } from '../../cli/run/session.ts';
import type { Device } from '../../emulator/bus/device.ts';

/** (func (export "f") (loop (br 0))) */
const LOOP = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 4, 1, 0x60, 0, 0],
  ...[3, 2, 1, 0],
  ...[7, 5, 1, 1, 0x66, 0, 0],
  ...[10, 9, 1, 7, 0, 3, 0x40, 0x0c, 0, 0x0b, 0x0b],
]);

const WAYS: Readonly<Record<string, () => void>> = {
  javascript: () => {
    for (;;);
  },
  webassembly: () => {
    const { f } = new WebAssembly.Instance(new WebAssembly.Module(LOOP)).exports;
    (f as () => void)();
  },
  wait: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  /** A process that does not end: the kernel has the thread. */
  kernel: () => void spawnSync('sleep', ['5']),
  /** Not stuck: the guest continues forever, the session's slices end. */
  guest: () => {},
  /** Not stuck: waits for the file of argv[4]; then the guest ends with status 7. */
  last: () => {
    while (!existsSync(process.argv[4]!));
  },
};

/** Is the second thread there, which receives signals? Then SIGHUP has a handler; Node has none. */
function isWatched(): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  return ((BigInt(`0x${caught}`) >> BigInt(constants.signals.SIGHUP - 1)) & 1n) !== 0n;
}

class Stuck implements Device {
  readonly name = 'stuck';
  readonly widths = [1, 2, 4, 8] as const;
  readonly #way: () => void;
  constructor(way: () => void) {
    this.#way = way;
  }
  read(): number {
    if (!isWatched()) return 0;
    writeSync(1, 'R\n');
    this.#way();
    return 1;
  }
  write(): void {}
  peek(): number {
    return 0;
  }
  reset(): void {}
  save(): unknown {
    return null;
  }
  load(): void {}
}

const [way, path] = process.argv.slice(2) as [string, string];
const session = runSession({
  machine: { kernel: { name: 'kernel.elf', bytes: readFileSync(path) }, bios: 'none', ramBytes: 16 << 20 },
  console: new GuestConsole({ binary: true }),
  input: true,
  // With outputs the second thread is there from the beginning, else after seconds.
  endsInOrder: way !== 'guest',
  prepare: machine => machine.bus.add(new Stuck(WAYS[way]!), 0x3000_0000, 0x1000),
});
session.then(end => {
  const why = explain(end)?.replace(/after .*/, 'in order');
  process.stderr.write(`${why ?? `exit ${end.status}`}\n`);
  process.exitCode = end.signalStatus || end.status;
});
