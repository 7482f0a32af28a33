// From QEMU's options to a machine, through the description of the run: what is recorded is what
// was booted, and a replay builds the machine in the same place.
import type { DiskImage, EngineKind, ImageFile, MachineOptions, VirtioOption } from '../../emulator/index.ts';
import { openDisk, readInput } from '../../host/input.ts';
import type { BootDescription, InputDescription } from '../../run/index.ts';
import { UserError } from '../io/fail.ts';
import type { QemuOptions } from './options.ts';

/** Larger files do not fit into the RAM of any guest; an ELF file may also hold debug data. */
const IMAGE_MAX = 2 ** 30;
const CPU = 'rv64';

/** By the names of a capsule's parts (run/capsule/parts.ts). */
export interface BootImages {
  readonly files: ReadonlyMap<string, ImageFile>;
  readonly drives: ReadonlyMap<string, Uint8Array | DiskImage>;
}

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

/** The machine of a description with these images. */
export function bootMachine(
  { images, append, machine }: BootDescription,
  { files, drives }: BootImages,
  engine: EngineKind,
): MachineOptions {
  const optional = <K extends string, T>(key: K, value: T | undefined | null): { [P in K]?: T } =>
    value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]: T });
  const { harts, memory, cpu, kcov, seed, icountShift, rtcBase, virtio, virtioLegacy } = machine;
  const disk = (n: number | null) => (n === null ? undefined : drives.get(`drive${n}.bin`));
  return {
    ...optional('kernel', files.get('kernel.bin')),
    ...optional('initrd', files.get('initrd.bin')),
    bios: images.bios === 'default' || images.bios === 'none' ? images.bios : files.get('bios.bin')!,
    append,
    ...optional('dtb', files.get('dtb.bin')),
    loads: images.loads.map(({ at, raw }, n) => ({
      image: files.get(`load${n}.bin`)!,
      raw,
      ...optional('at', at),
    })),
    icountShift,
    ...optional('rtcBase', rtcBase === null ? null : BigInt(rtcBase)),
    cpu,
    ramBytes: memory,
    harts,
    engine,
    kcov,
    virtio: virtio.map(
      ({ kind, slot, drive, readOnly }): VirtioOption => ({
        kind,
        ...optional('slot', slot),
        ...optional('image', disk(drive)),
        ...(kind === 'blk' ? { readOnly } : {}),
      }),
    ),
    virtioLegacy,
    ...optional('seed', seed === null ? null : BigInt(seed)),
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
