// The package beside a checkout: a description of a run has nothing of the place where it ran.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kcovbox as command, type Ran, ROOT, shell } from '../support/command.ts';
import { installPacked } from '../support/packed.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-installs-'));
const bin = join(dir, 'app', 'node_modules', '.bin', 'kcovbox');
beforeAll(() => void installPacked(dir), 600_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a traced run is the same run in a checkout and in an install, from another folder', () => {
  const own = (folder: string): string => {
    mkdirSync(join(dir, folder));
    writeFileSync(join(dir, folder, 'own.c'), 'int main(void) { return 3; }\n');
    return join(dir, folder);
  };
  const [here, there] = [own('here'), own('there')];
  const env = { ...process.env, KCOVBOX_CACHE: join(dir, 'installed-cache') };
  const outputs = ['--cover', 'own.kcov', '--result', 'own.json', '--snapshot', 'own.ksnap'];
  const args = ['run', '--trace', ...outputs, 'own.c'];
  expect(command(args, { cwd: here })).toMatchObject({ status: 3, stderr: '' });
  const installed = (...words: string[]): Ran => {
    const { status, stdout, stderr } = spawnSync(bin, words, {
      cwd: there,
      encoding: 'utf8',
      input: '',
      env,
    });
    return { status, stdout, stderr };
  };
  expect(installed(...args)).toMatchObject({ status: 3, stderr: '' });
  const [first, second] = [here, there].map(folder =>
    JSON.parse(readFileSync(join(folder, 'own.json'), 'utf8')),
  );
  expect(first.run.program).toEqual({ name: 'own', argv: ['own'], environment: {}, cflags: [], trace: true });
  expect(second.run).toEqual(first.run);
  expect(second.runId).toBe(first.runId);
  const again = installed('run', '--trace', '--cover', 'x.kcov', '--from', join(here, 'own.ksnap'), 'own.c');
  expect(again).toEqual({ status: 3, stdout: '', stderr: '' });
  const record = ['--record', 'own.kcapsule', '--thin'];
  const recorded = command(['run', '--trace', '--cover', 'x.kcov', ...record, 'own.c'], { cwd: here });
  expect(recorded).toMatchObject({ status: 3, stderr: '' });
  rmSync(join(dir, 'installed-cache', 'image'), { recursive: true, force: true });
  const replayed = installed('replay', join(here, 'own.kcapsule'), 'own.c');
  expect(replayed).toMatchObject({ status: 3, stderr: expect.stringMatching(/^kcovbox: the same run/) });
});

test('a run keeps its reports when the cache is pruned beside it', () => {
  const cache = join(dir, 'pruned-cache');
  const env = { KCOVBOX_CACHE: cache };
  const place = mkdtempSync(join(dir, 'pruned-'));
  const source = '#include <stdio.h>\nint main(void) { getchar(); *(volatile int *)8 = getchar(); }\n';
  writeFileSync(join(place, 'waits.c'), source);
  const run = (...words: string[]): string =>
    `kcovbox run --trace ${words.join(' ')} --cover waits.info --result waits.json --record waits.kcapsule waits.c`;
  const made = (): unknown =>
    ['waits.info', 'waits.json', 'waits.kcapsule'].map(name => readFileSync(join(place, name), 'utf8'));
  const normal = shell(`printf ab | ${run()}`, { cwd: place, env });
  expect(normal.stderr).toBe('');
  const wanted = made();
  // The guest waits for its input while the cache is emptied.
  const prune = `while ! test -e pruned; do sleep 0.1; done`;
  const line = `{ ${prune}; printf ab; } | ${run()} & pid=$!; sleep 2; kcovbox cache prune --all; touch pruned; wait $pid`;
  const pruned = shell(line, { cwd: place, env });
  expect(pruned).toMatchObject({ status: normal.status, stderr: '' });
  expect(pruned.stdout).toMatch(/^removed [1-9]\d* files/);
  expect(made()).toEqual(wanted);
});

/** Commands of a page that run programs, with what they print. */
const consolesOf = (page: string): [command: string, output: string][] =>
  [
    ...readFileSync(join(ROOT, page), 'utf8').matchAll(
      /^```console\n\$ npx kcovbox (run .*)\n([^$]*?)```$/gm,
    ),
  ].map(([, command, output]) => [command!, output!]);

test('the programs of the README run in an install, with the prefix that it names and no compiler', () => {
  const app = join(dir, 'app');
  const commands = consolesOf('README.md');
  expect(commands.length).toBeGreaterThanOrEqual(2);
  const tools = join(dir, 'tools');
  mkdirSync(tools);
  for (const name of ['env', 'sh', 'head']) symlinkSync(`/usr/bin/${name}`, join(tools, name));
  symlinkSync(process.execPath, join(tools, 'node'));
  const env = { PATH: tools, HOME: dir, XDG_CACHE_HOME: join(dir, 'readme-cache') };
  for (const [command, output] of commands) {
    const there = command.replace(/(examples|guest-programs)\//g, 'node_modules/kcovbox/$1/');
    const line = `node_modules/.bin/kcovbox ${there}`;
    const { stdout, stderr } = spawnSync('/bin/sh', ['-c', line], {
      cwd: app,
      encoding: 'utf8',
      input: '',
      env,
    });
    expect({ stdout, stderr }, line).toEqual({ stdout: output, stderr: '' });
  }
});

// It builds a kernel from nothing, which takes half a minute; only installs.slow.test.ts runs it.
test.runIf(process.env['KCOVBOX_THOROUGH'])(
  'the first run of the first device may say that it builds a kernel, and nothing else more',
  () => {
    const app = join(dir, 'app');
    const [command, output] = consolesOf('docs/tutorials/own-device.md')[0]!;
    expect(command).toContain('examples/device/summer.ts');
    cpSync(join(app, 'node_modules', 'kcovbox', 'examples'), join(app, 'examples'), { recursive: true });
    const env = { ...process.env, KCOVBOX_CACHE: join(dir, 'first-cache') };
    const run = (): string => {
      const line = `node_modules/.bin/kcovbox ${command}`;
      return spawnSync('/bin/sh', ['-c', line], { cwd: app, encoding: 'utf8', input: '', env }).stdout;
    };
    expect(run().replace(/^kcovbox: building the openbsd kernel, about \d+ s\n/, '')).toBe(output);
    expect(run()).toBe(output);
  },
);
