// Kernel builds compile what an edit touched, and end in the bytes that make builds from nothing.
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildKernel, objectDir, requireTool } from '../../toolchain/index.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-kernel-'));
const tree = join(dir, 'edited tree'); // a blank in the path is no obstacle
const lines: string[] = [];
const build = (conf = 'openbsd') => buildKernel(conf, { source: tree, say: line => lines.push(line) });

/**
 * Those of the user are filled by any build; here a cache of our own begins with what they have.
 */
const before = process.env['KCOVBOX_CACHE'];
beforeAll(async () => {
  await buildKernel('openbsd');
  const shared = objectDir();
  process.env['KCOVBOX_CACHE'] = join(dir, 'cache');
  mkdirSync(objectDir(), { recursive: true });
  for (const name of readdirSync(shared)) share(join(shared, name), join(objectDir(), name));
  cpSync(join(ROOT, 'kernel'), tree, { recursive: true });
});
afterAll(() => {
  if (before === undefined) delete process.env['KCOVBOX_CACHE'];
  else process.env['KCOVBOX_CACHE'] = before;
  rmSync(dir, { recursive: true, force: true });
});

/** A cache may have gigabytes: links, where both are on one file system. */
function share(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** Another file takes its place; the bytes of the user's stay. */
function replace(path: string, bytes: string | Uint8Array): void {
  rmSync(path);
  writeFileSync(path, bytes);
}

/** By make alone, from nothing. */
function makeKernel(conf: string): Buffer {
  const out = join(dir, 'make');
  rmSync(out, { recursive: true, force: true });
  const tools = [`CC=${requireTool('clang')}`, `LD=${requireTool('ld')}`, `NM=${requireTool('nm')}`];
  const args = ['-s', '-j2', '-C', tree, `CONF=${conf}`, `OUT=${out}`, ...tools];
  const { status, stderr } = spawnSync('make', args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return readFileSync(join(out, 'kernel.elf'));
}

test('another checkout compiles nothing again', async () => {
  const { built, compiled, path } = await build();
  expect({ built, compiled }).toEqual({ built: true, compiled: 0 });
  expect(path).toMatch(/\/kernel\/openbsd-[0-9a-f]+\.elf$/);
  expect(await build()).toMatchObject({ built: false, path });
});

test('other configurations share what does not depend on the difference', async () => {
  const { compiled } = await build('netbsd');
  expect(compiled).toBeLessThan(40);
});

test('an edit compiles one source; an edit of a header those that include it; both are the bytes of make', async () => {
  appendFileSync(join(tree, 'fs', 'pipe.c'), 'int an_edit(void);\nint an_edit(void)\n{\n    return 7;\n}\n');
  expect(await build()).toMatchObject({ built: true, compiled: 1 });
  appendFileSync(join(tree, 'opt', 'kqueue', 'kqueue.h'), '/* an edit */\n');
  const { path, compiled } = await build();
  expect(compiled).toBeGreaterThan(0);
  expect(compiled).toBeLessThan(20);
  expect(readFileSync(path).equals(makeKernel('openbsd'))).toBe(true);
});

test('an edit of an option is an edit of the kernel', async () => {
  const option = join(tree, 'opt', 'pty', 'option');
  const text = readFileSync(option, 'utf8');
  const { path } = await build();
  writeFileSync(option, text.replace('option PTY', 'option PTY off'));
  const without = await build();
  expect(without.built).toBe(true);
  expect(readFileSync(without.path, 'latin1')).not.toContain('devpts');
  writeFileSync(option, text);
  expect(readFileSync((await build()).path).equals(readFileSync(path))).toBe(true);
});

test('a broken source says where, and leaves the last kernel alone', async () => {
  const source = join(tree, 'fs', 'pipe.c');
  const text = readFileSync(source, 'utf8');
  const { path } = await build();
  const kernel = readFileSync(path);
  writeFileSync(source, `${text}#error on purpose\n`);
  const error = await build().catch((error: unknown) => error);
  expect(error).toMatchObject({ message: 'kernel configuration openbsd does not build' });
  expect((error as { detail: string }).detail).toContain('fs/pipe.c:');
  expect(readFileSync(path).equals(kernel)).toBe(true);
  writeFileSync(source, text);
  expect(await build()).toMatchObject({ compiled: 0 });
});

test('damaged objects and entries are made anew', async () => {
  const objects = objectDir();
  const { path } = await build();
  const kernel = readFileSync(path);
  const names = readdirSync(objects);
  for (const name of names.filter(name => name.endsWith('.o')).slice(0, 5)) {
    const bytes = readFileSync(join(objects, name));
    replace(join(objects, name), bytes.subarray(0, bytes.length / 2));
  }
  for (const name of names.filter(name => name.endsWith('.json')).slice(0, 5))
    replace(join(objects, name), '[["a", 7], 3');
  rmSync(`${path}.json`);
  const again = await build();
  expect(again.compiled).toBeLessThanOrEqual(10);
  expect(readFileSync(again.path).equals(kernel)).toBe(true);
});

test('two processes at once, and one that is killed, leave one good kernel', async () => {
  const source = join(tree, 'fs', 'pipe.c');
  appendFileSync(source, '/* again */\n');
  const command = [COMMAND, 'build', 'kernel', '--kernel-source', tree];
  const start = () => spawn(process.execPath, command, { stdio: 'ignore', env: process.env });
  const killed = start();
  await new Promise(done => setTimeout(done, 400));
  killed.kill('SIGKILL');
  const both = await Promise.all(
    [start(), start()].map(child => new Promise(done => child.on('close', status => done(status)))),
  );
  expect(both).toEqual([0, 0]);
  const { built, path } = await build();
  expect(built).toBe(false);
  const kernel = readFileSync(path);
  rmSync(path);
  expect(readFileSync((await build()).path).equals(kernel)).toBe(true);
  const left = readdirSync(join(dir, 'cache', 'kernel')).filter(name => name.includes('.tmp'));
  expect(left).toEqual([]);
});

test('a long build is announced, a short one and a cached one are not', async () => {
  lines.length = 0;
  await build();
  appendFileSync(join(tree, 'fs', 'pipe.c'), '/* short */\n');
  await build();
  expect(lines).toEqual([]);
  // The compiler fails at once, so this costs nothing.
  appendFileSync(join(tree, 'include', 'klib.h'), '#error on purpose\n');
  await expect(build()).rejects.toThrow();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^kcovbox: building the openbsd kernel, about \d+ s$/);
});

test('a folder that is no kernel tree is refused in one line', () => {
  const empty = join(dir, 'empty');
  mkdirSync(empty);
  const { status, stderr } = kcovbox(['build', 'kernel', '--kernel-source', empty], { cwd: dir });
  expect(status).toBe(125);
  expect(stderr).toMatch(/^kcovbox: .*empty is not a kernel tree: it has no Makefile; .*\n$/);
});

test('a tree whose parts are of another kind is refused; a pipe in it is not opened', () => {
  const tree = join(dir, 'kinds');
  mkdirSync(tree);
  for (const part of ['Makefile', 'kernel.ld', 'conf']) writeFileSync(join(tree, part), '');
  const build = () => kcovbox(['build', 'kernel', '--kernel-source', tree], { cwd: dir });
  expect(build().stderr).toMatch(/kinds is not a kernel tree: it has no conf\/; .*\n$/);
  rmSync(join(tree, 'conf'));
  mkdirSync(join(tree, 'conf'));
  writeFileSync(join(tree, 'conf', 'openbsd'), '');
  writeFileSync(join(tree, 'Makefile'), 'commands:\n\t@echo flags\nall $(OUT)/kernel.elf:\n\t@false\n');
  spawnSync('mkfifo', [join(tree, 'a.h')]);
  const { status, stderr } = build();
  expect(status).toBe(125);
  expect(stderr).toMatch(/\nkcovbox: .*config\.h.*\n$|^kcovbox: .*\n$/);
});
