// The lock file says what may be installed, by content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/command.ts';

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  lockfileVersion: number;
  packages: Readonly<Record<string, Entry>>;
};
const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

it('holds the hash of every package, of all platforms', () => {
  expect(entries.length).toBeGreaterThan(300);
  for (const [path, { integrity }] of entries)
    expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
});

it('names exact versions, and no registry', () => {
  expect(lock.lockfileVersion).toBe(3);
  for (const [path, entry] of entries) {
    expect(entry.version, path).toMatch(/^\d+\.\d+\.\d+/);
    expect(entry, path).not.toHaveProperty('resolved');
  }
});
