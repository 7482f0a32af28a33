// The emulator for a page: tests bundle this for a browser, and run the same cases in Node.
import { createMachine, type EngineKind, type MachineOptions, stateHash } from '../../emulator/index.ts';

/** The configuration of a run, as JSON; images are in base64. */
export interface Case {
  readonly name: string;
  readonly engine: EngineKind;
  readonly harts: number;
  readonly bios: 'default' | 'none';
  readonly kernel: string;
  readonly initrd?: string;
  readonly append: string;
  readonly kcov: 'device' | 'off';
  readonly input: readonly number[];
}

export interface Ended {
  readonly result: object;
  readonly text: string;
  readonly instret: number;
  readonly time: number;
  readonly stateHash: string;
  /** The run hash chain. */
  readonly links: readonly string[];
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), c => c.charCodeAt(0));

/** Units between two pieces of a run; where it is cut makes no difference. */
const PIECE = 3_000_000;
const LIMIT = 60_000_000;
/** Units between two links of the chain. */
const INTERVAL = 1_000_000;

export function runCase(c: Case): Ended {
  let text = '';
  const options: MachineOptions = {
    kernel: { name: 'kernel.elf', bytes: bytesOf(c.kernel) },
    ...(c.initrd === undefined ? {} : { initrd: { name: 'initrd', bytes: bytesOf(c.initrd) } }),
    bios: c.bios,
    append: c.append,
    ramBytes: 64 << 20,
    harts: c.harts,
    engine: c.engine,
    kcov: c.kcov,
    runHash: INTERVAL,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  };
  const machine = createMachine(options);
  machine.input(c.input);
  let result = machine.run(PIECE);
  while (result.kind === 'budget' && machine.spent < LIMIT) result = machine.run(PIECE);
  const { instret, time } = machine;
  const { links } = machine.hasher!.result();
  return { result, text, instret, time, stateHash: stateHash(machine), links };
}

(globalThis as unknown as { runCase: typeof runCase }).runCase = runCase;
