// The lock file says what may be installed, by content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/command.ts';

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  lockfileVersion: number;
  packages: Readonly<Record<string, Entry>>;
};
const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

/**
 * Binaries for other platforms that the registry of this project does not have in these versions,
 * so that npm could not write their hashes; npm checks them when it downloads them. `npm view
 * NAME@VERSION dist.integrity` tells when one can leave the list.
 */
const NOT_TO_BE_HAD: Readonly<Record<string, string>> = {
  '@biomejs/cli-':
    'android-arm64 android-x64 darwin-arm64 darwin-x64 linux-arm64-musl linux-x64-musl win32-arm64 win32-x64',
  '@rollup/rollup-':
    'android-arm-eabi android-arm64 android-x64 darwin-arm64 darwin-x64 freebsd-arm64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-loong64-gnu linux-loong64-musl linux-ppc64-gnu linux-ppc64-musl linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openbsd-x64 openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-gnu win32-x64-msvc',
};

it('holds the hash of every package but those that cannot be had', () => {
  const open = entries.filter(([, entry]) => entry.integrity === undefined);
  const known = Object.entries(NOT_TO_BE_HAD).flatMap(([prefix, platforms]) =>
    platforms.split(' ').map(platform => `node_modules/${prefix}${platform}`),
  );
  expect(open.map(([path]) => path).sort()).toEqual(known.sort());
  for (const [path, { optional, os, cpu, libc }] of open)
    expect(
      optional && (!os?.includes('linux') || !cpu?.includes('x64') || libc?.includes('musl')),
      path,
    ).toBe(true);
  for (const [path, { integrity }] of entries)
    if (integrity !== undefined) expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
});

it('names exact versions, and no registry', () => {
  expect(lock.lockfileVersion).toBe(3);
  for (const [path, entry] of entries) {
    expect(entry.version, path).toMatch(/^\d+\.\d+\.\d+/);
    expect(entry, path).not.toHaveProperty('resolved');
  }
});
