// All labs: what they say of themselves holds, and each simulated submission gets its grade. The
// hashes of one class are the same with each version of Node.js.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { labNames, openLab } from '../../host/lab/lab.ts';
import { canSandbox } from '../../host/lab/sandbox.ts';
import { COMMAND, kcovbox } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';
import { undeserved, writeAttacks } from './attacks.ts';
import { checksThatFind, MISTAKES, quotedIn } from './mistakes.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-labs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const timeout = 1_700_000;

test.each(labNames())('lab check %s', name => {
  const { status, stdout } = kcovbox(['lab', 'check', name], { cwd: dir, timeout });
  expect(stdout).not.toContain('not ok');
  expect(status).toBe(0);
});

test.each(MISTAKES)('lab $lab finds: $name', mistake => {
  const found = checksThatFind(mistake, dir);
  expect(found.map(({ id }) => id)).toEqual(mistake.checks);
  for (const { why, replayed } of found) expect(replayed).toContain(quotedIn(why));
});

test.each(labNames())('each submission of %s gets its grade', async name => {
  const folder = join(dir, `class-${name}`);
  const attacks = await writeAttacks(openLab(name), folder);
  const graded = join(dir, `graded-${name}`);
  const hasDevice = openLab(name).manifest.files.some(file => file.device);
  // Where no sandbox works, a device is run only when the teacher says so, and may read files.
  const isOpen = hasDevice && !canSandbox();
  const unsafe = isOpen ? ['--unsafe'] : [];
  const ran = kcovbox(['grade', folder, '--lab', name, '-o', graded, ...unsafe], { cwd: dir, timeout });
  expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' });
  const judged = attacks.filter(attack => !isOpen || attack.name !== 'device-reads');
  expect(judged.map(attack => undeserved(graded, attack)).filter(Boolean)).toEqual([]);
});

describe('one class, graded by each version of Node.js', () => {
  const folder = join(dir, 'class');
  test('the same bytes', async () => {
    await writeAttacks(openLab('1'), folder);
    const results = nodeVersions().map(({ major, path }) => {
      const graded = join(dir, `node-${major}`);
      const args = [COMMAND, 'grade', folder, '--lab', '1', '-o', graded];
      const { status, stdout } = spawnSync(path, args, { encoding: 'utf8', timeout });
      const files = readdirSync(graded, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name))
        .sort()
        .map(file => [file.slice(graded.length), readFileSync(file).toString('base64')]);
      return { status, stdout, files };
    });
    for (const result of results) expect(result).toEqual(results[0]);
  });
});
