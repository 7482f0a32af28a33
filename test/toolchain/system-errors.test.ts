// Errors of the system are told in words, with the call and the file.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemMessage } from '../../toolchain/index.ts';
import { isOneLine, kcovbox } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-system-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, 'file'), '');
const at = (name: string): string => join(dir, name);

const CALLS: readonly (readonly [call: () => unknown, message: string])[] = [
  [() => openSync(at('none'), 'r'), `cannot open ${at('none')}: no such file or folder`],
  [() => mkdirSync(at('file')), `cannot make the folder ${at('file')}: a file of this name is there`],
  [() => readdirSync(at('file')), `cannot read the folder ${at('file')}: a part of its path is not a folder`],
  [() => renameSync(at('none'), at('x')), `cannot rename ${at('none')}: no such file or folder`],
  [() => openSync(dir, 'w'), `cannot open ${dir}: it is a folder`],
];

test.each(CALLS)('%s', (call, message) => {
  let error: unknown;
  try {
    call();
  } catch (thrown) {
    error = thrown;
  }
  expect(systemMessage(error as Error)).toBe(message);
});

test('a program that cannot be started, and an error that is none of the system', () => {
  const { error } = spawnSync(at('none'));
  expect(systemMessage(error!)).toBe(`cannot start ${at('none')}: no such file or folder`);
  expect(systemMessage(new Error('plain'))).toBe('plain');
});

test('a cache that is in the way is told in words by the command', () => {
  mkdirSync(at('cache'));
  writeFileSync(at('cache/kernel'), '');
  const env = { KCOVBOX_CACHE: at('cache') };
  const listed = kcovbox(['cache', 'ls'], { cwd: dir, env });
  expect(listed).toMatchObject({ status: 125, stdout: '' });
  expect(listed.stderr).toBe(
    `kcovbox: cannot read the folder ${at('cache/kernel')}: a part of its path is not a folder\n`,
  );
  const built = kcovbox(['build', 'kernel'], { cwd: dir, env });
  expect(built.stderr).toBe(
    `kcovbox: cannot write the cache ${at('cache/kernel')} (a file of this name is there); set KCOVBOX_CACHE to a folder that can be written\n`,
  );
  expect(built.stderr).toSatisfy(isOneLine);
});
