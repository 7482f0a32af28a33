// The machine of a recorded boot. Also runs in the page.
import type { DiskImage, EngineKind, ImageFile, MachineOptions, VirtioOption } from '../emulator/index.ts';
import type { BootDescription } from '../run/index.ts';

/** By the names of a capsule's parts (run/capsule/parts.ts). */
export interface BootImages {
  readonly files: ReadonlyMap<string, ImageFile>;
  readonly drives: ReadonlyMap<string, Uint8Array | DiskImage>;
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
