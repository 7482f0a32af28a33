// A run in an address: both directions, and addresses of hostile authors.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { KcovboxError } from '../../emulator/index.ts';
import { checkLength, fromAddress, toAddress, UNITS_MAX } from '../../web/engine/address.ts';
import { readPlace, writePlace } from '../../web/views/place.ts';

const bytes = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
const SHORT = { instret: 1000 };
const textOf = (contents: Uint8Array): string =>
  `1.${Buffer.from(deflateSync(contents)).toString('base64url')}`;

describe('a run in an address', () => {
  it('is the same capsule behind both directions, for every length of base64', () => {
    for (let length = 0; length < 40; length++)
      expect(fromAddress(toAddress(bytes(length), SHORT)!)).toEqual(bytes(length));
    expect(toAddress(bytes(4000), SHORT)).toMatch(/^1\.[\w-]+$/);
  });

  it('has at most 8,192 letters, and a run of some seconds', () => {
    const noise = Uint8Array.from({ length: 6200 }, () => Math.random() * 256);
    expect(toAddress(noise, SHORT)).toBeUndefined();
    expect(toAddress(noise.subarray(0, 6000), SHORT)).toHaveLength(Math.ceil((6005 * 4) / 3) + 2);
    expect(toAddress(new Uint8Array(70_000), SHORT)).toBeUndefined();
    expect(toAddress(bytes(10), { instret: UNITS_MAX + 1 })).toBeUndefined();
  });

  it('survives the address bar', () => {
    const place = { run: toAddress(bytes(300), SHORT), unit: 12, file: 'kernel/fs/sys_rw.c', line: 7 };
    expect(readPlace(writePlace(place))).toEqual({ ...place, program: undefined });
  });

  it.each(['', 'file=', `file=${'a'.repeat(1001)}`, 'file'])('with the place %.8s has no file', words => {
    expect(readPlace(`#${words}`).file).toBeUndefined();
    expect(readPlace(`#file=${'a'.repeat(1000)}`).file).toHaveLength(1000);
  });

  it.each([
    ['', 'is damaged: ask for the address again, or for a file'],
    ['nothing', 'is damaged: ask for the address again, or for a file'],
    ['1.', 'is damaged: ask for the address again, or for a file'],
    ['1.<script>alert(1)</script>', 'is damaged: ask for the address again, or for a file'],
    ['1.AAAA', 'is damaged: ask for the address again, or for a file'],
    ['1.A', 'is damaged: ask for the address again, or for a file'],
    ['2.AAAA', 'has version 2 of the format; this page reads version 1'],
    [`1.${'A'.repeat(8191)}`, 'has 8193 letters; at most 8192 are possible'],
    [`1.${'A'.repeat(5_000_000)}`, 'has 5000002 letters; at most 8192 are possible'],
    [textOf(new Uint8Array(65_537)), 'unpacks to more than 65536 bytes: ask for a file'],
    [textOf(new Uint8Array(5_900_000)), 'unpacks to more than 65536 bytes: ask for a file'],
  ])('%.20s… is one sentence', (text, why) => {
    expect(() => fromAddress(text)).toThrow(new KcovboxError('input', `the run in the address ${why}`));
  });

  it('with any letter changed is refused, or another text', () => {
    const text = textOf(readFileSync(join(import.meta.dirname, 'address.test.ts')).subarray(0, 3000));
    for (let at = 2; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      try {
        expect(fromAddress(changed).length).toBeLessThanOrEqual(65_536);
      } catch (error) {
        expect((error as Error).message).toMatch(/^the run in the address /);
      }
    }
  });

  it('with more instructions than some seconds is refused', () => {
    const of = (instret: number) =>
      ({ manifest: { outcome: { instret } } }) as Parameters<typeof checkLength>[0];
    checkLength(of(UNITS_MAX));
    expect(() => checkLength(of(UNITS_MAX + 1))).toThrow(
      'the run in the address has 500000001 instructions; at most 500000000 are possible: ask for a file',
    );
  });
});
