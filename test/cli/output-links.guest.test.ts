// An output that is a symbolic link: the file that it names is written, whole or not at all, and
// the link stays; a file keeps its permissions.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkDistinct, checkOutput, writeChunks, writeFile } from '../../cli/io/output.ts';
import { kcovbox, ROOT } from '../support/command.ts';

let dir: string;
const at = (...names: string[]) => join(dir, ...names);
const text = (...names: string[]) => readFileSync(at(...names), 'utf8');

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kcovbox-links-'));
  mkdirSync(at('far'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['a file', 'far/file', true],
  ['a file that is not there yet', 'far/new', false],
])('to %s', async (_, target, isThere) => {
  if (isThere) writeFileSync(at(target), 'old');
  symlinkSync(target, at('link'));
  symlinkSync('link', at('link2'));
  checkOutput(at('link2'));
  expect(readdirSync(at('far'))).toHaveLength(isThere ? 1 : 0);
  writeFile(at('link2'), 'one');
  expect(text(target)).toBe('one');
  await writeChunks(at('link'), [Buffer.from('two')]);
  expect(text(target)).toBe('two');
  expect([readlinkSync(at('link')), readlinkSync(at('link2'))]).toEqual([target, 'link']);
  expect([readdirSync(dir).sort(), readdirSync(at('far'))]).toEqual([
    ['far', 'link', 'link2'],
    [target.slice(4)],
  ]);
});

test('that fails leaves the old file', async () => {
  writeFileSync(at('far', 'file'), 'old');
  symlinkSync('far/file', at('link'));
  const chunks = function* () {
    yield Buffer.from('half');
    throw new Error('no more');
  };
  await expect(writeChunks(at('link'), chunks())).rejects.toThrow('no more');
  expect(text('far', 'file')).toBe('old');
  expect(readdirSync(at('far'))).toEqual(['file']);
});

test('to nowhere or to itself is one line', () => {
  symlinkSync('none/file', at('nowhere'));
  symlinkSync('loop', at('loop'));
  expect(() => checkOutput(at('nowhere'))).toThrow(/^cannot write \S+nowhere: no such folder$/);
  for (const check of [checkOutput, (path: string) => writeFile(path, '')])
    expect(() => check(at('loop'))).toThrow(/^cannot write \S+loop: [^\n]*symbolic links/);
});

test('and another to the same new file are one output', () => {
  symlinkSync('far/new', at('a'));
  symlinkSync('far/new', at('b'));
  const outputs = [
    ['--cover', at('a')],
    ['--result', at('b')],
  ] as const;
  expect(() => checkDistinct(outputs, [])).toThrow('--result');
});

test('a file keeps its permissions', () => {
  writeFileSync(at('secret'), 'old', { mode: 0o600 });
  writeFile(at('secret'), 'new');
  expect(statSync(at('secret')).mode & 0o777).toBe(0o600);
});

test('the command writes through it', () => {
  symlinkSync('far/header.h', at('header.h'));
  expect(
    kcovbox(['dev', 'header', '-o', 'header.h', join(ROOT, 'examples/device/summer.ts')], { cwd: dir }),
  ).toMatchObject({ status: 0 });
  expect(lstatSync(at('header.h')).isSymbolicLink()).toBe(true);
  expect(text('far', 'header.h')).toContain('#define');
});
