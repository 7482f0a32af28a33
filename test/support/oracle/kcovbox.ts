// Our own machine as a runner: the whole board, each engine.

import { type EngineKind, Machine, MIB } from '../../../emulator/index.ts';
import type { Image } from './image.ts';
import type { ImageRunner } from './runner.ts';

/** More than any image of the campaigns retires. */
const BUDGET = 2_000_000_000;

export function kcovboxRunner(
  engine: EngineKind,
  cpu = 'rv64',
): Omit<ImageRunner, 'run'> & { instret: number; run(image: Pick<Image, 'bytes'>): Uint8Array } {
  return {
    name: engine,
    instret: 0,
    run(image) {
      const kernel = { name: 'programs.bin', bytes: image.bytes };
      // Just enough RAM: shrinking makes hundreds of machines.
      const ramBytes = (Math.ceil(image.bytes.length / MIB) + 4) * MIB;
      const options = { kernel, engine, cpu, ramBytes, eager: true } as const;
      const machine = Machine.create({ ...options, bios: 'none', kcov: 'off' });
      const result = machine.run(BUDGET);
      if (result.kind !== 'exit')
        throw new Error(`${engine}: the image ended with ${JSON.stringify(result)}`);
      this.instret += machine.instret;
      return machine.ram.data.slice(0, image.bytes.length);
    },
  };
}
