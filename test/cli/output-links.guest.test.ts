// An output that is a symbolic link: the file that it names is written, whole or not at all, and
// the link stays; a file keeps its permissions. The longest name is no exception.
import { spawnSync } from 'node:child_process';
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
import { temporaryPath } from '../../toolchain/index.ts';
import { kcovbox, ROOT, shell } from '../support/command.ts';

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

test('a name of 255 bytes, as long as a file system takes, is written as others', async () => {
  const name = `${'ä'.repeat(125)}.kcov`; // 255 bytes of UTF-8
  writeFile(at(name), 'one');
  writeFileSync(temporaryPath(at(name), spawnSync('true').pid), 'of a killed writer');
  await writeChunks(at(name), [Buffer.from('two')]);
  expect(text(name)).toBe('two');
  expect(readdirSync(dir).sort()).toEqual(['far', name]);
});

test('whose `..` follows another link leads where the system says', () => {
  mkdirSync(at('far', 'deep'));
  symlinkSync('far/deep', at('other'));
  symlinkSync('other/../file', at('link'));
  writeFileSync(at('file'), 'mine');
  checkOutput(at('link'));
  writeFile(at('link'), 'one');
  writeFile(`${dir}/other/../plain`, 'two');
  expect([text('file'), text('far', 'file'), text('far', 'plain')]).toEqual(['mine', 'one', 'two']);
  const same = [
    ['--cover', `${dir}/other/../new`],
    ['--result', at('far', 'new')],
  ] as const;
  expect(() => checkDistinct(same, [])).toThrow('--result');
  expect(readdirSync(dir).sort()).toEqual(['far', 'file', 'link', 'other']);
});

test('to standard output or another open file is written there, not replaced', () => {
  writeFileSync(at('log'), 'old\n');
  symlinkSync('/dev/stdout', at('out'));
  const header = `kcovbox dev header ${JSON.stringify(join(ROOT, 'examples/device/summer.ts'))} -o`;
  const run = (line: string) => expect(shell(line, { cwd: dir })).toMatchObject({ status: 0, stderr: '' });
  run(`${header} out >> log`);
  expect(text('log')).toMatch(/^old\n.*#define/s);
  run(`(rm log; ${header} /dev/stdout; ${header} /dev/fd/3 3> gone) > log`);
  expect(text('gone')).toContain('#define');
  expect(readdirSync(dir).sort()).toEqual(['far', 'gone', 'out']);
  expect(shell(`${header} out | head -c 7`, { cwd: dir }).stdout).toHaveLength(7);
  expect(shell(`${header} /dev/fd/99`, { cwd: dir })).toMatchObject({
    status: 125,
    stderr: 'kcovbox: cannot write /dev/fd/99: no file can be made in /dev/fd\n',
  });
});

test('and another one to standard output are one too many', () => {
  symlinkSync('/dev/stdout', at('out'));
  expect(() =>
    checkDistinct(
      [
        ['--cover', at('out')],
        ['--result', '-'],
      ],
      [],
    ),
  ).toThrow(/^--cover \S+out and --result -: only one of them can be standard output$/);
  const line = `kcovbox dev header ${JSON.stringify(join(ROOT, 'examples/device/summer.ts'))} -o same > same`;
  expect(shell(line, { cwd: dir })).toEqual({
    status: 125,
    stdout: '',
    stderr: 'kcovbox: -o same: the file is standard output; choose another file\n',
  });
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
