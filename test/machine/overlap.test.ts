// Images of one machine do not lie over one another: each pair of them, and random sets against a
// comparison of all pairs. QEMU's side is in test/cli/qemu-options.oracle.test.ts.

import { describe, expect, test } from 'vitest';
import { Machine, type MachineOptions, MIB } from '../../emulator/index.ts';
import { type Range, requireDisjoint } from '../../emulator/machine/loader.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const RAM = 0x8000_0000;
const raw = (name: string, bytes: number) => ({ name, bytes: new Uint8Array(bytes).fill(1) });
const load = (name: string, at: number, bytes: number) => ({ image: raw(name, bytes), at, raw: true });

/** The message with which a machine of 4 MiB refuses the images. */
function refusal(options: MachineOptions): string {
  try {
    Machine.create({ bios: 'none', ramBytes: 4 * MIB, engine: 'interp', ...options });
    return 'accepted';
  } catch (e) {
    return (e as Error).message;
  }
}

describe('images over one another', () => {
  const kernel = raw('kernel.bin', 16);
  test.each<[string, MachineOptions, RegExp | 'accepted']>([
    [
      'an initrd in a kernel of more than half of RAM',
      { kernel: raw('kernel.bin', 3 * MIB), initrd: raw('initrd', 1) },
      /^initrd at 0x80200000..0x80200001 lies over kernel.bin at 0x80000000..0x80300000; move one/,
    ],
    [
      'a loader over the kernel',
      { kernel, loads: [load('extra', RAM + 15, 1)] },
      /^extra at 0x8000000f.* over kernel.bin/,
    ],
    [
      'a loader over a loader',
      { kernel, loads: [load('a', RAM + 100, 8), load('b', RAM + 96, 5)] },
      /^a at .* lies over b at/,
    ],
    [
      'a loader over the initrd',
      { kernel, initrd: raw('initrd', 9), loads: [load('extra', RAM + 2 * MIB + 8, 1)] },
      /^extra at .* lies over initrd at/,
    ],
    [
      'a loader over the device tree',
      { kernel, loads: [load('extra', RAM + 2 * MIB, 1)] },
      /^extra at .* lies over the device tree at/,
    ],
    ['neighbours', { kernel, loads: [load('a', RAM + 16, 8), load('b', RAM + 24, 8)] }, 'accepted'],
    [
      'a device tree larger than RAM, and no kernel',
      { loads: [load('a', RAM, 4)], dtb: { name: 'x.dtb', bytes: blob(5 * MIB) } },
      /leave no room for the device tree/,
    ],
  ])('%s', (_, options, expected) => {
    if (typeof expected === 'string') expect(refusal(options)).toBe(expected);
    else expect(refusal(options)).toMatch(expected);
  });

  test('random sets of ranges, against all pairs', () => {
    const seed = seedFromEnvironment(0x0e1a);
    const r = new Random(seed);
    let refused = 0;
    for (let i = 0; i < 4000; i++) {
      const images = Array.from({ length: 1 + r.below(4) }, (_, n) =>
        Array.from({ length: r.below(4) }, (): Range => {
          const start = r.below(60);
          return { name: `image ${n}`, start, end: start + r.below(9) };
        }),
      );
      const meets = (a: Range, b: Range): boolean => Math.max(a.start, b.start) < Math.min(a.end, b.end);
      const expected = images.some((a, n) =>
        images.some((b, k) => k > n && a.some(x => b.some(y => meets(x, y)))),
      );
      refused += Number(expected);
      const check = (): void => requireDisjoint(images);
      const where = `seed ${seedText(seed)}: ${JSON.stringify(images)}`;
      if (expected) expect(check, where).toThrow(/ lies over /);
      else expect(check, where).not.toThrow();
    }
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(3500);
  });
});

/** The header of a device tree of this size. */
function blob(bytes: number): Uint8Array {
  const file = new Uint8Array(bytes);
  const view = new DataView(file.buffer);
  view.setUint32(0, 0xd00d_feed);
  view.setUint32(4, bytes);
  return file;
}
