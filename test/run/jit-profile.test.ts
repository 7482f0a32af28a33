// Files that are no profile: whatever lies in its place, a run goes on without waiting for it.

import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeptProfile } from '../../host/jit-profile.ts';

const KERNEL = new Uint8Array(100);
const CONTENTS = new Int32Array(1024);
/** FNV-1a of one in five words of such a page. */
const HASH = CONTENTS.reduce((h, _, i) => (i % 5 === 0 ? Math.imul(h, 0x0100_0193) : h), 1024) >>> 0;
const HEAD = 'kcovbox profile 2\n';

let cache: string;
let path: string;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
  vi.stubEnv('KCOVBOX_CACHE', cache);
  mkdirSync(join(cache, 'profile'));
  const hash =
    KERNEL.reduce((h, byte, i) => (i % 61 === 0 ? Math.imul(h ^ byte, 0x0100_0193) : h), 100) >>> 0;
  path = join(cache, 'profile', `profile-${hash.toString(16).padStart(8, '0')}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

function record(vpn: number, fill: number): Buffer {
  const head = Buffer.alloc(16);
  head.writeDoubleLE(vpn, 0);
  head.writeUInt32LE(HASH, 8);
  return Buffer.concat([head, Buffer.alloc(512, fill)]);
}

const page = () => new KeptProfile(KERNEL).pageAt(0x1000n, CONTENTS);

test('a profile is found by the kernel, the address and the contents', () => {
  writeFileSync(path, Buffer.concat([Buffer.from(HEAD), record(Number.NaN, 1), record(1, 255)]));
  expect(page()?.hot).toHaveLength(256);
  expect(page()?.reached[255]).toBe(255);
  expect(new KeptProfile(KERNEL).pageAt(0x2000n, CONTENTS)).toBeUndefined();
  const known = new KeptProfile(KERNEL);
  expect([0xffen, 0x1000n, 0x1ffen, 0x2000n].map(va => known.mayBeHot(va))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(new KeptProfile(KERNEL).pageAt(0x1000n, new Int32Array(1024).fill(1))).toBeUndefined();
  expect(new KeptProfile(new Uint8Array(99)).pageAt(0x1000n, CONTENTS)).toBeUndefined();
});

const MIB = 2 ** 20;
const STRANGE: Readonly<Record<string, () => void>> = {
  'an empty file': () => writeFileSync(path, ''),
  'a part of a record': () =>
    writeFileSync(path, Buffer.concat([Buffer.from(HEAD), record(1, 255).subarray(1)])),
  'another head': () =>
    writeFileSync(path, Buffer.concat([Buffer.from(HEAD.replace('2', '1')), record(1, 255)])),
  'a folder': () => mkdirSync(path),
  'a link to itself': () => symlinkSync(path, path),
  'a pipe that nobody writes to': () => void execFileSync('mkfifo', [path]),
  'a device without end': () => symlinkSync('/dev/zero', path),
  'a file of 1 GiB': () => {
    writeFileSync(path, HEAD);
    truncateSync(path, 1024 * MIB);
  },
};

test.each(Object.entries(STRANGE))('%s is none', (_, put) => {
  put();
  const before = process.memoryUsage().external;
  expect(page()).toBeUndefined();
  expect(process.memoryUsage().external - before).toBeLessThan(100 * MIB);
  expect(readdirSync(join(cache, 'profile'))).toHaveLength(1);
});
