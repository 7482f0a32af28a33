// V8 allocates registers well in functions of at most 8192 virtual registers. The interpreter's
// function of 43,000 bytes had more: traps and CSR instructions took 24 % longer than at 32,000.
import { describe, expect, test } from 'vitest';
import { buildInterpreter } from '../../emulator/engine/interp/interp.ts';

const LIMIT = 26_000;

/** Bytes of each function body in a module (core spec 2.0 §5.5.13). */
function bodySizes(bytes: Uint8Array): number[] {
  let at = 8;
  const u32 = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const id = bytes[at++]!;
    const size = u32();
    if (id !== 10) {
      at += size;
      continue;
    }
    return Array.from({ length: u32() }, () => {
      const body = u32();
      at += body;
      return body;
    });
  }
  return [];
}

describe('the functions of the interpreter are small enough for good registers', () => {
  const ram = { hostBase: 1 << 25, base: 0x8000_0000, bytes: 1 << 27 };
  const places = { codeMap: 1 << 20, memoryPages: 4096, dirty: { dirtyCount: 1 << 21, dirtyList: 1 << 22 } };
  const regions = { jumpCache: 1 << 20, jumpCacheMask: 4095 };
  test.each([
    ['alone', {}],
    ['with a JIT', { regions }],
  ])('%s', (_, more) => {
    const sizes = bodySizes(buildInterpreter({ ram, ...places, ...more }));
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(LIMIT);
    expect(Math.max(...sizes)).toBeGreaterThan(LIMIT / 2); // else the limit guards nothing
  });
});
