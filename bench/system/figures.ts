// Figures of the JIT on a system workload: one run in this process, beside the measured ones.

import { readFileSync } from 'node:fs';
import { KcovboxError, Machine } from '../../emulator/index.ts';
import { SYSTEM_RAM_MIB, systemGuest } from './guest.ts';
import { isBoot, type SystemWork } from './phases.ts';

export interface Figures {
  /** Guest instructions between the marks. */
  readonly instructions: number;
  /** Of these, those that ran in compiled code, 0 to 1. */
  readonly compiledShare: number;
  /** From here on since the machine was switched on. Instructions that were compiled. */
  readonly compiled: number;
  readonly regions: number;
  readonly modules: number;
  /** Bytes of WebAssembly for each compiled instruction. */
  readonly bytesPerInsn: number;
  /** Microseconds of the main thread for each: discovery, emission, linking. */
  readonly microsPerInsn: number;
  /** Entry points that lost their code, and those among them that lost it for want of space. */
  readonly dropped: number;
  readonly evicted: number;
}

/** More than any of them needs; a program of the user's may need more. */
const BUDGET = 30_000_000_000;
const STEP = 1_000_000;

/** Processor time of this thread; wall time would include other load. */
const cpuMillis = (): number =>
  Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;

export async function figuresOf(work: SystemWork): Promise<Figures> {
  const args = await systemGuest(work);
  const after = (name: string): string => args[args.indexOf(name) + 1]!;
  const image = (name: string) => ({ name: after(name), bytes: readFileSync(after(name)) });
  let text = '';
  const machine = Machine.create({
    kernel: image('-kernel'),
    initrd: image('-initrd'),
    append: after('-append'),
    ramBytes: SYSTEM_RAM_MIB << 20,
    tuning: { clock: cpuMillis, countUnits: true },
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  });
  const jit = machine.jit!;
  const place = () => ({ instret: Number(machine.instret), units: jit.units });
  let begin: ReturnType<typeof place> | undefined = isBoot(work) ? { instret: 0, units: 0 } : undefined;
  for (let spent = 0; spent < BUDGET && !/^end /m.test(text); spent += STEP) {
    const { kind } = machine.run(STEP);
    if (!begin && /^begin/m.test(text)) begin = place();
    if (kind !== 'budget') break;
    await new Promise(done => setImmediate(done)); // signals are received
  }
  if (!begin || !/^end /m.test(text)) {
    const last = text.trim().split('\n').at(-1) || 'no output';
    throw new KcovboxError(
      'machine',
      `bench: the guest did not finish while its figures were taken: ${last}`,
    );
  }
  const end = place();
  const instructions = end.instret - begin.instret;
  const { insns, regions, modules, wasmBytes, dropped, evicted } = jit.stats;
  const { discover, emit, instantiate } = jit.times;
  const per = (amount: number): number => (insns === 0 ? 0 : amount / insns);
  return {
    instructions,
    compiledShare: (end.units - begin.units) / instructions,
    compiled: insns,
    regions,
    modules,
    bytesPerInsn: per(wasmBytes),
    microsPerInsn: per(1000 * (discover + emit + instantiate)),
    dropped,
    evicted,
  };
}
