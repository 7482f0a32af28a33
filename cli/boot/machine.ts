// From QEMU's options to a machine, through the description of the run: what is recorded is what
// was booted, and a replay builds the machine in the same place.
import type { DiskImage, ImageFile, MachineOptions } from '../../emulator/index.ts';
import { type BootImages, bootMachine } from '../../host/boot-machine.ts';
import { openDisk, readInput } from '../../host/input.ts';
import type { BootDescription, InputDescription } from '../../run/index.ts';
import { UserError } from '../io/fail.ts';
import type { QemuOptions } from './options.ts';

/** Larger files do not fit into the RAM of any guest; an ELF file may also hold debug data. */
const IMAGE_MAX = 2 ** 30;
const CPU = 'rv64';

const isFile = (bios: string): boolean => bios !== 'default' && bios !== 'none';

/** Drives that a device has, each once, in the order of the devices. */
function drivesOf(options: QemuOptions): string[] {
  const ids = options.devices.flatMap(({ kind, drive }) => {
    if (kind !== 'blk') return [];
    if (!options.drives.some(({ id }) => id === drive))
      throw new UserError(`-device virtio-blk-device: no -drive has id=${drive ?? ''}`);
    return [drive!];
  });
  return [...new Set(ids)];
}

/** Reads the images; drives stay in their files. */
export function bootImages(options: QemuOptions): BootImages {
  const files = new Map<string, ImageFile>();
  const add = (name: string, path: string | undefined, what: string): void => {
    if (path !== undefined) files.set(name, { name: path, bytes: readInput(path, what, IMAGE_MAX) });
  };
  if (/\.c$/i.test(options.kernel ?? ''))
    throw new UserError(
      `kernel ${options.kernel} is C source: kcovbox run compiles programs; boot takes an ELF file, a Linux Image or *.bin`,
    );
  add('kernel.bin', options.kernel, 'kernel');
  add('initrd.bin', options.initrd, 'initrd');
  add('bios.bin', isFile(options.bios) ? options.bios : undefined, 'bios');
  add('dtb.bin', options.dtb, 'dtb');
  options.loads.forEach(({ file, bytes }, n) => {
    if (bytes) files.set(`load${n}.bin`, { name: '-device loader', bytes });
    else add(`load${n}.bin`, file, 'loader file');
  });
  const drives = drivesOf(options).map((id, n): [string, DiskImage] => [
    `drive${n}.bin`,
    openDisk(options.drives.find(drive => drive.id === id)!.file),
  ]);
  return { files, drives: new Map(drives) };
}

/** `hashOf`: SHA-256 of the image with this name. */
export function describeBoot(
  options: QemuOptions,
  hashOf: (name: string) => string,
  input: InputDescription,
): BootDescription {
  const drives = drivesOf(options);
  const hashIf = (isGiven: boolean, name: string): string | null => (isGiven ? hashOf(name) : null);
  return {
    format: 'kcovbox boot',
    version: 1,
    images: {
      kernel: hashIf(options.kernel !== undefined, 'kernel.bin'),
      initrd: hashIf(options.initrd !== undefined, 'initrd.bin'),
      bios: isFile(options.bios) ? hashOf('bios.bin') : options.bios,
      dtb: hashIf(options.dtb !== undefined, 'dtb.bin'),
      loads: options.loads.map(({ at, raw }, n) => ({ sha256: hashOf(`load${n}.bin`), at: at ?? null, raw })),
      drives: drives.map((_, n) => hashOf(`drive${n}.bin`)),
    },
    append: options.append,
    machine: {
      harts: options.smp,
      memory: options.memory,
      cpu: options.cpu ?? CPU,
      kcov: options.kcov,
      seed: options.seed === undefined ? null : `0x${options.seed.toString(16)}`,
      icountShift: options.icountShift,
      rtcBase: options.rtcBase === undefined ? null : String(options.rtcBase),
      virtio: options.devices.map(({ kind, drive, slot }) => ({
        kind,
        slot: slot ?? null,
        drive: kind === 'blk' ? drives.indexOf(drive!) : null,
        readOnly: kind === 'blk' && options.drives.find(({ id }) => id === drive)!.readOnly,
      })),
      virtioLegacy: options.virtioLegacy,
    },
    noReboot: options.noReboot,
    budget: options.maxInsns ?? null,
    input,
  };
}

/** Of a description that nobody keeps. */
const NO_INPUT: InputDescription = {
  kind: 'none',
  bytes: 0,
  sha256: '',
  rule: null,
  endAt: null,
  journal: null,
};

/** The machine that the options ask for. */
export const machineOf = (options: QemuOptions, images: BootImages): MachineOptions =>
  bootMachine(
    describeBoot(options, () => '', NO_INPUT),
    images,
    options.engine,
  );
