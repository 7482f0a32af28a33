// A target that is no kernel of kcovbox as the description of a boot, and back: the description and
// its images determine the machine.
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import { type BootDescription, describeInput } from '../../run/index.ts';
import { sha256 } from '../../toolchain/index.ts';
import { bootMachine } from '../boot-machine.ts';
import type { OtherImages, Target } from './target.ts';

export interface DescribedTarget {
  readonly run: BootDescription;
  /** By their SHA-256. */
  readonly images: ReadonlyMap<string, Uint8Array>;
}

const CPU = 'rv64';

/** Of what `prepareOtherTarget` and `prepareXv6` return. */
export function describeTarget({ images: files, machine }: Target<OtherImages>): DescribedTarget {
  const images = new Map<string, Uint8Array>();
  const keep = (bytes: Uint8Array): string => {
    const hash = sha256(bytes);
    images.set(hash, bytes);
    return hash;
  };
  const { virtio = [], initrd, bios } = machine;
  const disks = virtio.length > 0 ? [keep(files.initrd)] : [];
  const run: BootDescription = {
    format: 'kcovbox boot',
    version: 1,
    images: {
      kernel: keep(files.kernel),
      initrd: initrd ? keep(initrd.bytes) : null,
      bios: bios === 'none' ? 'none' : 'default',
      dtb: null,
      loads: [],
      drives: disks,
    },
    append: files.append,
    machine: {
      harts: machine.harts!,
      memory: machine.ramBytes!,
      cpu: CPU,
      kcov: machine.kcov ?? 'device',
      seed: null,
      icountShift: machine.icountShift ?? 0,
      rtcBase: null,
      virtio: virtio.map(({ kind, slot }, drive) => ({ kind, slot: slot ?? null, drive, readOnly: false })),
      virtioLegacy: machine.virtioLegacy ?? true,
    },
    noReboot: true,
    budget: null,
    input: describeInput([], 'poll-64k', sha256),
  };
  return { run, images };
}

/** The machine of a description; `image` gives the bytes with a hash. */
export function describedMachine(
  run: BootDescription,
  image: (hash: string) => Uint8Array,
  engine: EngineKind,
): MachineOptions {
  const { kernel, initrd, drives } = run.images;
  const files = Object.entries({ kernel, initrd }).flatMap(([name, hash]) =>
    hash === null ? [] : [[`${name}.bin`, { name, bytes: image(hash) }] as const],
  );
  const disks = drives.map((hash, n) => [`drive${n}.bin`, image(hash)] as const);
  return bootMachine(run, { files: new Map(files), drives: new Map(disks) }, engine);
}
