// The C program of a find as `kcovbox run` runs it: the words of that command, and a guest of the
// same run, which finds out what the command must say. The C program makes other instructions than
// the agent, so the order of the harts and the numbers of events are its own.
import { join } from 'node:path';
import {
  type Fault,
  faultRow,
  faultText,
  type Machine,
  type MachineOptions,
  parseCpu,
  parseSchedule,
} from '../../emulator/index.ts';
import { devicesOf, MARK, type Program } from '../../fuzz/index.ts';
import type { LoadedDevice } from '../../host/device.ts';
import { deviceText } from '../../host/device-text.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import { Guest } from '../../run/many/guest.ts';
import type { Ended } from '../../run/many/outcome.ts';
import { loadDevices } from '../run/devices.ts';
import { confOf } from '../run/robust.ts';
import type { Stored } from './folder.ts';

/** Of `kcovbox run`. */
const MEMORY = 256 * 2 ** 20;
/** Nanoseconds of the guest after which it waits for what cannot come. */
const TIME_MAX = 600e9;
/** Of the numbers of events: 0, 1, -1, up to 8 and -8. */
const SHIFTS = Array.from({ length: 17 }, (_, i) => (i % 2 === 1 ? (i + 1) / 2 : -i / 2));

/** The kernel and the devices of a campaign, as options of `kcovbox run`. */
export interface Board {
  /** Empty where `kernel` is given. */
  readonly conf: string;
  /** An image, in place of one that is built. */
  readonly kernel: string | undefined;
  readonly devices: readonly LoadedDevice[];
  readonly words: readonly string[];
}

/** Errors: as `loadDevices`. */
export async function boardOf({ path, manifest, devices }: Stored): Promise<Board> {
  const texts = devices.map(deviceText);
  const kernel = manifest.whole ? join(path, 'kernel.bin') : undefined;
  return {
    conf: manifest.conf,
    kernel,
    devices: await loadDevices(texts),
    words: [
      ...(kernel === undefined ? ['--conf', manifest.conf] : ['-k', kernel, '--dialect', 'linux']),
      ...texts.flatMap(text => ['--device', text]),
    ],
  };
}

export interface CRun {
  /** Of the C program. */
  readonly path: string;
  readonly board: Board;
  /** Words of the kernel command line. */
  readonly append: string;
  readonly smp: number;
  /** Of the harts, as `kcovbox run` takes it. */
  readonly schedule?: string | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly faultable?: readonly string[] | undefined;
}

export interface Prepared {
  readonly machine: MachineOptions;
  readonly kernel: Uint8Array;
}

/** The machine of the run. Errors: as `prepareGuest`. */
export async function prepareRun(run: CRun): Promise<Prepared> {
  const { path, board, append, smp, schedule, faults, faultable = [] } = run;
  const choice = {
    dialect: confOf(board.conf, undefined, undefined).dialect,
    ...(board.kernel === undefined ? { conf: board.conf } : { conf: 'linux', kernel: board.kernel }),
    devices: board.devices,
    faults,
    kcov: 'device' as const,
    engine: 'jit' as const,
    smp,
    cpu: parseCpu('rv64'),
    memory: MEMORY,
    ...(schedule !== undefined && { schedule: parseSchedule(schedule) }),
    icount: 0,
    cflags: [],
    env: {},
  };
  const images = await prepareGuest(path, [], { ...choice, ...(append !== '' && { append }) });
  const machine = machineOptions(images, choice);
  return {
    machine: faultable.length > 0 ? { ...machine, faultable } : machine,
    get kernel() {
      return images.kernel;
    },
  };
}

/**
 * The program's faults with the numbers that their events have since power-on, where `kcovbox run`
 * counts from. The calls of the C program begin at its mark. A driver that polls may make another
 * number of accesses than under the agent, so neighbouring events are tried where those of the
 * program do not show the find; `shows` absent: they are not. undefined: the C program has not come
 * to its calls within `maxInsns`.
 */
export async function findEvents(
  program: Program,
  run: Omit<CRun, 'faults' | 'faultable'>,
  maxInsns: number,
  shows?: (ended: Ended, machine: Machine) => boolean,
): Promise<Fault[] | undefined> {
  const faults = program.faults ?? [];
  if (faults.length === 0) return [];
  const { machine } = await prepareRun({ ...run, faultable: devicesOf(program) });
  const guest = new Guest(machine);
  if (!(await guest.runToMark(MARK.READY, maxInsns))) return undefined;
  const layers = guest.machine.board.faults;
  const placed = faults.map(fault => {
    const before = layers.get(fault.device)!.counts[faultRow(fault.kind).event] ?? 0;
    return { ...fault, at: before + fault.at };
  });
  const start = guest.save();
  for (const shift of shows ? SHIFTS : []) {
    const shifted = placed.map((fault, i) => ({
      ...fault,
      at: fault.at + Math.max(shift, 1 - faults[i]!.at),
    }));
    guest.goTo(start);
    for (const layer of layers.values()) layer.arm(shifted);
    if (shows!(await guest.runToEnd(maxInsns, TIME_MAX), guest.machine)) return shifted;
  }
  return placed;
}

export const faultWords = (faults: readonly Fault[]): string[] =>
  faults.flatMap(fault => ['--fault', faultText(fault)]);
