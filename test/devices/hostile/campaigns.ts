// Each driver of the kernel with a hostile device: probe and use, from a snapshot, with KASAN and
// lockdep.
import { join } from 'node:path';
import {
  DEFAULT_EXTENSIONS,
  type MachineOptions,
  nodeOf,
  type VirtioOption,
} from '../../../emulator/index.ts';
import { loadDevice } from '../../../host/device.ts';
import { prepareGuest } from '../../../host/guest.ts';
import { machineOptions } from '../../../host/machine.ts';
import { type Campaign, campaign } from '../../../run/faults/hostile.ts';
import { ROOT } from '../../support/command.ts';

interface Setup {
  readonly device: string;
  readonly virtio?: VirtioOption;
  readonly legacy?: boolean;
  /** A pair of files in examples/, by their names without suffix. */
  readonly own?: { readonly files: string; readonly program: string; readonly args: readonly string[] };
}

const disk = (): VirtioOption => ({ kind: 'blk', image: new Uint8Array(1 << 20) });
const SUMMER = { files: 'device/summer', program: 'device/use.c', args: ['1', '2', '39'] };
const RING = { files: 'ring/ring', program: 'ring/use.c', args: [] };
const DISK = { files: 'disk/disk', program: 'disk/use.c', args: [] };
const THERMO = { files: 'sensor/thermo', program: 'sensor/use.c', args: [] };

/** `virtio7`: the slot that a single device takes. */
export const SETUPS: Readonly<Record<string, Setup>> = {
  edu: { device: 'edu' },
  blk: { device: 'virtio7', virtio: disk(), legacy: false },
  'blk-legacy': { device: 'virtio7', virtio: disk() },
  rng: { device: 'virtio7', virtio: { kind: 'rng' }, legacy: false },
  'rng-legacy': { device: 'virtio7', virtio: { kind: 'rng' } },
  console: { device: 'virtio7', virtio: { kind: 'console', size: { rows: 24, cols: 80 } }, legacy: false },
  summer: { device: 'summer', own: SUMMER },
  ring: { device: 'ring', own: RING },
  disk: { device: 'disk', own: DISK },
  thermo: { device: 'thermo', own: THERMO },
};

/** The guest of a setup, and the device that is hostile. */
export async function prepareSetup(name: string): Promise<{ machine: MachineOptions; device: string }> {
  const { device, virtio, legacy = true, own } = SETUPS[name]!;
  const devices = own ? [loadDevice(join(ROOT, 'examples', `${own.files}.ts`))] : [];
  const program = own ? join(ROOT, 'examples', own.program) : join(ROOT, 'test/devices/hostile/use.c');
  const args = own?.args ?? (device === 'edu' ? ['edu'] : []);
  const guest = await prepareGuest(program, args, {
    dialect: 'openbsd',
    conf: 'openbsd+kasan+lockdep',
    kcov: 'off',
    devices,
    probeLate: [nodeOf(device)],
    drivers: own ? [join(ROOT, 'examples', `${own.files}.c`)] : [],
  });
  const choice = {
    dialect: 'openbsd' as const,
    conf: 'openbsd+kasan+lockdep',
    kcov: 'off' as const,
    engine: 'jit' as const,
    smp: 1,
    cpu: DEFAULT_EXTENSIONS,
    memory: 64 << 20,
    icount: 0,
    devices,
    cflags: [],
    env: {},
  };
  const virtioDevices = { virtio: virtio ? [virtio] : [], virtioLegacy: legacy };
  return { machine: { ...machineOptions(guest, choice), ...virtioDevices }, device };
}

/** Runs seeds `firstSeed` and the next ones. */
export async function runSetup(name: string, firstSeed: number, runs: number): Promise<Campaign> {
  const { machine, device } = await prepareSetup(name);
  return campaign({ machine, devices: [device], runs, firstSeed, misdirects: false });
}
