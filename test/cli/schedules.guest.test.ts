// `--schedule` and `kcovbox schedules`: races are found, each printed command repeats its failure,
// and a run with a schedule is the same however it is executed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_EXTENSIONS, Machine, parseSchedule, stateHash } from '../../emulator/index.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import { isOneLine, kcovbox, ROOT, shell } from '../support/command.ts';
import { optionsFor, prebuilt } from '../support/kernels.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-schedules-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const cli = (...args: string[]) => kcovbox(args, { cwd: dir });
const LOST = join(ROOT, 'examples/lost.c');
const RACES = join(ROOT, 'test/run/schedules');
const DEPTH_2 = join(RACES, 'depth2.c');

/** The failures that a search has printed: the order, and the command. */
const failures = (stdout: string): [order: string, line: string, command: string][] =>
  [...stdout.matchAll(/^(\S+): .* in \d+: (.*)\n {2}(kcovbox run .*)$/gm)].map(([, order, line, command]) => [
    order!,
    line!,
    command!,
  ]);

test('a lost update is found by each order, and each command repeats it', () => {
  // Of each order about half of the runs fail.
  const words = ['rw', 'rp', 'pos', 'pct:3'].flatMap(order => ['--schedule', order]);
  const { status, stdout, stderr } = cli('schedules', '--smp', '2', '--runs', '10', ...words, LOST);
  expect(stderr).toBe('');
  expect(status).toBe(1);
  const found = failures(stdout);
  const orders = new Set(found.map(([order]) => order.replace(/(?<=pct:\d):\d+/, '')));
  expect(orders).toEqual(new Set(['rw', 'rp', 'pos', 'pct:3']));
  // The first of each order.
  const firsts = new Map(found.map(one => [one[0].replace(/:.*/, ''), one] as const).reverse());
  expect(firsts.size).toBe(4);
  for (const [order, line, command] of firsts.values()) {
    const again = shell(command, { cwd: dir });
    expect(again, order).toMatchObject({ status: 1, stdout: `${line}\n` });
  }
});

test.each([
  ['depth2.c', 'rw', 60, 139],
  ['depth2.c', 'rp', 60, 139],
  ['depth2.c', 'pos', 60, 139],
  ['depth3.c', 'rw', 150, 134],
])('%s: %s finds the bug within %i schedules', (program, order, runs, status) => {
  const { stdout } = cli(
    'schedules',
    '--smp',
    '2',
    '--runs',
    `${runs}`,
    '--schedule',
    order,
    join(RACES, program),
  );
  const [[, , command] = []] = failures(stdout);
  expect(command).toBeDefined();
  expect(shell(command!, { cwd: dir }).status).toBe(status);
});

test('a program without a race fails in no order; a kernel with checkers runs them too', () => {
  const program = join(ROOT, 'examples/hello.c');
  for (const options of [[], optionsFor(prebuilt('openbsd+kasan'))]) {
    const ran = cli('schedules', '--smp', '3', '--runs', '20', ...options, program);
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^\d+ instructions and exceptions in the usual order\n(\S+ +20 ok\n){5}$/);
  }
});

test('threads share the runs: their number changes no byte', () => {
  const search = (jobs: string) =>
    cli('schedules', '--smp', '2', '--runs', '130', '--schedule', 'pos', `-j${jobs}`, DEPTH_2);
  const one = search('1');
  expect(one).toMatchObject({ status: 1, stderr: '' });
  expect(search('3')).toEqual(one);
  expect(one.stdout).not.toContain('-j');
});

test('what cannot be searched is one line', () => {
  writeFileSync(join(dir, 'endless.c'), 'int main(void) { for (;;); }');
  for (const [words, line] of [
    [[LOST], /one hart has one order/],
    [['--smp', '2', '--engine', 'lockstep', LOST], /only jit or interp here/],
    [['--smp', '2', '--max-insns', '10000000', 'endless.c'], /does not end by itself in the usual order/],
    [['--smp', '2', '--max-insns', '1000', 'endless.c'], /does not end by itself in the usual order/],
  ] as const) {
    const { status, stdout, stderr } = cli('schedules', ...words);
    expect(status).toBe(125);
    expect(stdout).toBe('');
    expect(stderr).toMatch(line);
    expect(stderr).toSatisfy(isOneLine);
  }
});

test('a run with a schedule is recorded, and repeated by every engine', () => {
  const options = ['--smp', '2', '--schedule', 'rp', '--sched-seed', '0x9'];
  const one = cli('run', ...options, '--record', 'race.kcapsule', DEPTH_2);
  expect(cli('run', ...options, '--engine', 'interp', DEPTH_2)).toEqual(one);
  expect(cli('run', ...options, '--engine', 'lockstep', DEPTH_2)).toEqual(one);
  expect(cli('replay', 'race.kcapsule')).toMatchObject({ status: one.status, stdout: one.stdout });
  expect(cli('replay', '--verify', '--engine', 'interp', 'race.kcapsule').status).toBe(one.status);
});

test.each(['rw', 'pos', 'pct:16:1000000000'])('a run in the order %s is recorded and repeated', order => {
  const options = ['--smp', '4', '--schedule', order, '--sched-seed', '0x7'];
  const one = cli('run', ...options, '--record', 'one.kcapsule', LOST);
  expect(one.stderr).toBe('');
  expect(cli('replay', 'one.kcapsule')).toMatchObject({ status: one.status, stdout: one.stdout });
});

test('the schedule begins at the same instruction, however the run is cut', async () => {
  const guest = await prepareGuest(join(ROOT, 'examples/lost.c'), [], {
    dialect: 'openbsd',
    conf: 'openbsd',
    kcov: 'device',
    devices: [],
    drivers: [],
  });
  for (const text of ['rw', 'rp', 'pos', 'pct:3:50000']) {
    const newMachine = () =>
      Machine.create(
        machineOptions(guest, {
          dialect: 'openbsd',
          conf: 'openbsd',
          kcov: 'device',
          engine: 'jit',
          smp: 2,
          cpu: DEFAULT_EXTENSIONS,
          memory: 64 << 20,
          schedSeed: 5n,
          schedule: parseSchedule(text),
          icount: 0,
          cflags: [],
          env: {},
        }),
      );
    const straight = newMachine();
    expect(straight.run()).toMatchObject({ kind: 'exit' });
    const pieces = newMachine();
    for (let n = 1; pieces.run(n).kind === 'budget'; n = (n * 7) % 10_007);
    expect(stateHash(pieces)).toBe(stateHash(straight));
    const stopping = newMachine();
    stopping.stopsAtUser = true;
    expect(stopping.run()).toEqual({ kind: 'budget' });
    const fork = stopping.fork();
    for (const machine of [stopping, fork]) {
      expect(machine.run()).toMatchObject({ kind: 'exit' });
      expect(stateHash(machine)).toBe(stateHash(straight));
    }
  }
});
