// The machine of a capsule, without its input.
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import { bootMachine } from '../../host/boot-machine.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import { loadDevices } from './devices.ts';

/** `device`: files of the devices that the run had. */
export async function recordedMachine(
  { manifest }: Capsule,
  images: ReadonlyMap<string, Uint8Array>,
  { engine, device }: { readonly engine: EngineKind; readonly device?: readonly string[] | undefined },
): Promise<MachineOptions> {
  const { run, outcome } = manifest;
  const files = new Map([...images].map(([name, bytes]) => [name, { name, bytes }]));
  return run.format === 'kcovbox run'
    ? machineOptions(guestOf(run, images, ''), choiceOf(run, outcome, engine, await loadDevices(device)))
    : bootMachine(run, { files, drives: images }, engine);
}
