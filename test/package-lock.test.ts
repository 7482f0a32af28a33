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
 * npm leaves a binary out of the hashes when the registry that wrote the file did not have it; it
 * is then checked on download.
 */
const isForOthers = ({ optional, os, cpu, libc }: Entry): boolean =>
  optional === true && (!os?.includes('linux') || !cpu?.includes('x64') || libc?.includes('musl') === true);

it('holds the hash of every package that is installed here', () => {
  const open = entries.filter(([, entry]) => entry.integrity === undefined && !isForOthers(entry));
  expect(open.map(([path]) => path)).toEqual([]);
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
