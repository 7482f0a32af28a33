// Golden capsules: runs that every later kcovbox must repeat (README.md beside this file).
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kcovbox, ROOT } from '../support/command.ts';

const GOLDEN = join(ROOT, 'test', 'capsule');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-golden-'));
const kernel = join(dir, 'parts', 'kernel.bin');
const env = { KCOVBOX_CACHE: join(dir, 'cache') };
const cwd = dir;

beforeAll(() => {
  const args = ['capsule', 'extract', '-o', 'parts', join(GOLDEN, 'count.kcapsule')];
  expect(kcovbox(args, { cwd }).stderr).toBe('');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Capsule, other images, what the run prints and returns, instructions, and the SHA-256 of the
 * file.
 */
const CAPSULES: readonly [string, readonly string[], string, number, string, string][] = [
  [
    'count',
    [],
    'count\none\ntwo words\n12\n',
    5,
    '701,855',
    '08e0c4fffc0c721db2eb5865b7c0abb25c5c3e8f8b0efd1fd5c92cea08b5c23e',
  ],
  [
    'harts',
    [kernel],
    '9622317\n16418263\n2826372\n12807642\n15992968\n6011697\n',
    6,
    '2,339,998',
    '1f93dad2f637e6e4771ab0154d7ac14b6479f8451ac9eafc5a4c4b731d11c07a',
  ],
  [
    'kcov',
    [kernel],
    '13\n12\n',
    7,
    '725,413',
    '00694970e22d92e0a1e300179cd5302ac49ab9ffb0c55a6179196b39b6996ec1',
  ],
  ['typed', [], 'abc', 32, '18,000,016', '662780f2e00a63c87d2104ae7fd6d923eb951a3fe5b87b03e42fe063a2eb6544'],
];

describe.each(CAPSULES)('%s.kcapsule', (name, images, stdout, status, instructions, sha256) => {
  const path = join(GOLDEN, `${name}.kcapsule`);

  test('has not changed', () => {
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(sha256);
  });

  test.each(['jit', 'interp'])('is the same run with %s', engine => {
    const ran = kcovbox(['replay', '--engine', engine, path, ...images], { cwd, env });
    expect(ran).toMatchObject({ status, stdout });
    expect(ran.stderr).toMatch(`kcovbox: the same run: ${instructions} instructions, state`);
  });
});

test('every golden capsule is in the table', () => {
  const files = readdirSync(GOLDEN).filter(name => name.endsWith('.kcapsule'));
  expect(files.sort()).toEqual(CAPSULES.map(([name]) => `${name}.kcapsule`).sort());
});
