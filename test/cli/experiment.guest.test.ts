// `kcovbox experiment` as a user starts it: the same bytes from any number of workers, from shards
// and after kill -9; a report; a capsule that repeats a find; a tampered result that is noticed.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExperimentTrial, experimentVerification, type ProgramPlan } from '../../experiment/schema.ts';
import { sha256 } from '../../toolchain/index.ts';
import { COMMAND, isOneLine, kcovbox, type Ran, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-experiment-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const cli = (...words: string[]): Ran => kcovbox(['experiment', ...words], { cwd });

/** Some seeds open a pipe, and some fail. */
const PROGRAM = `#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    unsigned long seed = strtoul(argv[1], NULL, 0);
    int ends[2];
    if (seed % LUCK == 0 && pipe(ends) == 0 && write(ends[1], "x", 1) == 1)
        printf("opened %d\\n", ends[0]);
    return seed % 8 == 1;
}
`;
const FILE = `name: pipes
program:
  source: seeds.c
  memory: 32
  args: ['{seed}']
  cflags: [-DLUCK=3]
  vary: [sched-seed]
variants:
  often: {}
  rarely: { cflags: [-DLUCK=20] }
trials: 3
budget: { executions: 3 }
bugs:
  opened: { console: '^opened' }
  failed: { status: 1 }
functions: [sys_pipe2]
`;

beforeAll(() => {
  writeFileSync(join(cwd, 'seeds.c'), PROGRAM);
  writeFileSync(join(cwd, 'pipes.yaml'), FILE);
  const ran = cli('run', '-j', '2', 'pipes.yaml');
  expect(ran.stderr).toMatch(/^kcovbox: warning: 3 trials of each variant: with fewer than 10 .*\n$/);
  expect(ran).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^6 trials of plan [0-9a-f]{16} in /),
  });
});

const whole = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name !== 'report.html')
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))]),
  );
const planOf = (folder: string): ProgramPlan =>
  JSON.parse(readFileSync(join(cwd, folder, 'plan.json'), 'utf8')) as ProgramPlan;
const trialOf = (path: string): ExperimentTrial =>
  JSON.parse(
    readFileSync(join(cwd, 'pipes.experiment', 'trials', path, 'trial.json'), 'utf8'),
  ) as ExperimentTrial;
const trials = planOf.bind(null, 'pipes.experiment');

describe('the same bytes', () => {
  test('from shards in any order', () => {
    expect(cli('plan', '--dir', 'shards', 'pipes.yaml').stdout).toMatch(/^pipes: 2 variants of 3 trials/);
    for (const index of ['2', '0', '1'])
      expect(cli('shard', 'shards', '--index', index, '--of', '3')).toMatchObject({ status: 0, stderr: '' });
    const task = kcovbox(['experiment', 'shard', 'shards', '--of', '3'], {
      cwd,
      env: { SLURM_ARRAY_TASK_ID: '1' },
    });
    expect(task.stdout.trim().split('\n')).toHaveLength(2);
    expect(whole('shards')).toEqual(whole('pipes.experiment'));
  });

  test.each([
    ['kill -9', 'SIGKILL'],
    ['SIGINT', 'SIGINT'],
  ] as const)('after %s of the command and its workers, and resume', async (_, signal) => {
    expect(cli('plan', '--dir', signal, 'pipes.yaml').status).toBe(0);
    const path = join(cwd, signal);
    const child = spawn(process.execPath, [COMMAND, 'experiment', 'run', '-j', '2', path], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', chunk => {
      said += chunk;
    });
    const ended = new Promise(resolve => child.on('close', resolve));
    // By name: a listing of folders that are being renamed may fail.
    const isAnyDone = (): boolean =>
      planOf(signal).trials.some(({ variant, index }) =>
        existsSync(join(path, 'trials', variant, `000${index}`, 'trial.json')),
      );
    while (!isAnyDone() && child.exitCode === null) await new Promise(resolve => setTimeout(resolve, 5));
    process.kill(-child.pid!, signal); // the group: the workers too
    await ended;
    if (signal === 'SIGINT') {
      expect(child.exitCode).toBe(130);
      const { length } = planOf(signal).trials;
      expect(said.split('\n').at(-2)).toMatch(
        new RegExp(
          `^kcovbox: interrupted; \\d+ of ${length} trials are finished; kcovbox experiment resume ${path} goes on$`,
        ),
      );
    }
    const resumed = cli('resume', '-j', '1', signal);
    expect(resumed.status).toBe(0);
    expect(whole(signal)).toEqual(whole('pipes.experiment'));
  });
});

test('a trial that cannot run ends the command in one line', () => {
  cpSync(join(cwd, 'shards'), join(cwd, 'damaged'), { recursive: true });
  rmSync(join(cwd, 'damaged', 'trials', 'often', '0001'), { recursive: true });
  for (const { run } of planOf('damaged').variants)
    writeFileSync(join(cwd, 'damaged', 'images', run.images.kernel.sha256), 'x');
  const resumed = kcovbox(['experiment', 'resume', '-j', '1', 'damaged'], { cwd, timeout: 20_000 });
  expect([resumed.status, resumed.stdout]).toEqual([125, '']);
  expect(resumed.stderr).toMatch(/^kcovbox: image .* damaged: its SHA-256 is not its name$/m);
});

test('a find is a run of kcovbox: its capsule replays, and run with its options is the same', () => {
  const find = trials()
    .trials.map(({ variant, index }) => `${variant}/000${index}`)
    .map(path => ({ path, bug: trialOf(path).bugs.find(({ bug }) => bug === 'opened') }))
    .find(({ bug }) => bug);
  expect(find).toBeDefined();
  const folder = join('pipes.experiment', 'trials', find!.path);
  const { images } = planOf('pipes.experiment').variants.find(({ name }) => find!.path.startsWith(name))!.run;
  const paths = [images.kernel.sha256, images.initrd].map(hash => join('pipes.experiment', 'images', hash));
  const capsule = join(folder, find!.bug!.file);
  const replayed = kcovbox(['replay', '--result', 'replayed.json', capsule, ...paths], { cwd });
  expect(replayed.stderr).toMatch(/the same run/);
  expect(replayed.stdout).toBe(`${find!.bug!.line}\n`);
  const result = JSON.parse(readFileSync(join(cwd, 'replayed.json'), 'utf8')) as {
    run: { machine: { schedSeed: string }; program: { argv: string[]; cflags: string[] } };
    outcome: unknown;
  };
  const { machine, program } = result.run;
  const words = ['--trace', '--cover', 'x.kcov', '-m', '32M', '--sched-seed', machine.schedSeed, '--result'];
  const more = ['run.json', '--max-insns', '100000000', '--cflags', program.cflags[0]!, 'seeds.c', '--'];
  expect(kcovbox(['run', ...words, ...more, program.argv[1]!], { cwd }).stdout).toBe(replayed.stdout);
  const run = JSON.parse(readFileSync(join(cwd, 'run.json'), 'utf8')) as typeof result;
  expect(run).toMatchObject({ run: result.run, outcome: result.outcome as object });
});

test('report and status', () => {
  const { status, stdout } = cli('report', 'pipes.yaml');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^often: 3 of 3 trials, median \d+/m);
  expect(stdout).toMatch(/^opened: often \d of 3/m);
  const page = readFileSync(join(cwd, 'pipes.experiment', 'report.html'), 'utf8');
  expect(page).toContain('kernel/fs/');
  expect(cli('report', '-o', '-', 'shards').stdout).toBe(page);
  expect(cli('status', 'pipes.yaml').stdout).toMatch(/^pipes: 6 of 6 trials finished\n/);
  expect(JSON.parse(cli('status', '--format', 'json', 'shards').stdout)).toMatchObject({ pending: [] });
});

test('verify runs trials again, and names the first execution that differs', () => {
  expect(cli('verify', '--sample', '20%', 'shards')).toMatchObject({
    status: 0,
    stdout: '2 trials ran again: equal\n',
    stderr: '',
  });
  cpSync(join(cwd, 'shards'), join(cwd, 'edited'), { recursive: true });
  for (const { variant, index } of trials().trials) {
    const path = join(cwd, 'edited', 'trials', variant, `000${index}`, 'trial.json');
    const trial = JSON.parse(readFileSync(path, 'utf8')) as ExperimentTrial;
    const runs = trial.runs.map((hash, i) => (i === 1 ? '0'.repeat(16) : hash));
    writeFileSync(path, readFileSync(path, 'utf8').replace(JSON.stringify(trial.runs), JSON.stringify(runs)));
  }
  const { status, stderr, stdout } = cli('verify', '--sample', '1', 'edited');
  expect([status, stdout]).toEqual([1, '1 trial ran again: 1 differs\n']);
  expect(stderr).toMatch(
    /^kcovbox: trial \w+\/\d+: trial\.json differs from byte \d+ on; execution 2 is the first/,
  );
  const json = cli('verify', '--sample', '1%', '--json', 'edited');
  expect([json.status, json.stderr]).toEqual([1, '']);
  const found = experimentVerification.parse(JSON.parse(json.stdout));
  expect(found.trials).toBe(6);
  expect(found.differs.map(({ trial }) => trial)).toEqual(found.repeated);
  expect(stderr).toBe(`kcovbox: trial ${found.repeated[0]}: ${found.differs[0]!.difference}\n`);
});

test('a crate has everything: the experiment is repeated from it alone', () => {
  const day = ['--date', '2026-11-24', '--author', 'A. Person', '--license', 'https://spdx.org/licenses/MIT'];
  expect(cli('export', '--format', 'crate', ...day, '-o', 'crate', 'shards').stderr).toBe('');
  const read = (name: string): string => readFileSync(join(cwd, 'crate', name), 'utf8');
  const { '@graph': graph } = JSON.parse(read('ro-crate-metadata.json')) as {
    '@graph': { '@id': string; '@type': string; hasPart?: { '@id': string }[]; sha256?: string }[];
  };
  const described = graph.filter(one => one['@type'] === 'File').map(one => one['@id']);
  const files = readdirSync(join(cwd, 'crate'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name !== 'ro-crate-metadata.json')
    .map(entry => join(entry.parentPath, entry.name).slice(join(cwd, 'crate').length + 1));
  expect(described.sort()).toEqual(files.sort());
  expect(
    graph
      .find(one => one['@id'] === './')!
      .hasPart!.map(part => part['@id'])
      .sort(),
  ).toEqual(described);
  expect(read('sources/seeds.c')).toBe(PROGRAM);

  const again = cli('reproduce', '-o', 'again', 'crate');
  expect(again.stdout).toMatch(/reproduced: every byte is equal\n$/);
  // Nothing ran: what was there is equal, which is less.
  const twice = cli('reproduce', '-o', 'again', 'crate');
  expect(twice.stdout).toMatch(/^every byte is equal; (\d+) of \1 trials were in again before\n$/m);
  expect(read('data.csv')).toBe(cli('export', '-o', '-', 'pipes.yaml').stdout);

  writeFileSync(join(cwd, 'crate', 'data.csv'), `${read('data.csv')}x`);
  const tampered = cli('reproduce', '-o', 'third', 'crate');
  expect(tampered.stderr).toMatch(
    /^kcovbox: crate crate: data\.csv has other contents than its description says/,
  );
  expect([tampered.status, existsSync(join(cwd, 'third'))]).toEqual([125, false]);
});

test('a variant names the order of its harts; a race that it finds is a capsule', () => {
  const file = `name: orders
program: { source: ${join(ROOT, 'examples', 'lost.c')}, harts: 2, memory: 32, vary: [sched-seed] }
variants: { turns: {}, walk: { schedule: rw }, points: { schedule: 'pct:2:9000' } }
trials: 1
budget: { executions: 40 }
stop-when-found: true
bugs: { lost: { status: 1 } }
`;
  writeFileSync(join(cwd, 'orders.yaml'), file);
  expect(cli('plan', 'orders.yaml').stdout).toMatch(/2 harts in the order pct:2:9000, 32 MiB$/m);
  expect(cli('run', 'orders.yaml').status).toBe(0);
  const { variants } = planOf('orders.experiment');
  expect(variants.map(({ run }) => run.machine.schedule)).toEqual([undefined, 'rw', 'pct:2:9000']);
  const trial = join(cwd, 'orders.experiment', 'trials', 'walk', '0000');
  const { bugs } = JSON.parse(readFileSync(join(trial, 'trial.json'), 'utf8')) as ExperimentTrial;
  expect(bugs).toMatchObject([{ bug: 'lost', status: 1, file: 'lost.kcapsule' }]);
  const { images } = variants[1]!.run;
  const paths = [images.kernel.sha256, images.initrd].map(hash => join('orders.experiment', 'images', hash));
  const replayed = kcovbox(['replay', join(trial, 'lost.kcapsule'), ...paths], { cwd });
  expect(replayed).toMatchObject({ status: 1, stderr: expect.stringMatching(/the same run/) });
  writeFileSync(join(cwd, 'one.yaml'), file.replace('harts: 2', 'harts: 1'));
  expect(cli('plan', 'one.yaml')).toMatchObject({
    status: 125,
    stderr: expect.stringMatching(/one\.yaml:3:32: schedule: one hart has one order: give harts 2 or more$/m),
  });
});

test('Parquet has the rows of CSV', async () => {
  const path = join(cwd, 'data.parquet');
  expect(cli('export', '--format', 'parquet', '-o', path, 'shards')).toMatchObject({ status: 0, stderr: '' });
  const { buffer, byteOffset, length } = readFileSync(path);
  const rows = await parquetReadObjects({
    file: buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer,
  });
  const text = rows.map(row => Object.values(row).join(',')).join('\n');
  expect(`${Object.keys(rows[0]!).join(',')}\n${text}\n`).toBe(cli('export', '-o', '-', 'shards').stdout);
});

test.each([
  [['export', '--format', 'crate', '-o', 'x', 'shards'], /give --date YYYY-MM-DD/],
  [['export', '--date', '2026-02-30', '-o', 'x', 'shards'], /expected a day/],
  [['export', '--license', 'MIT', '-o', '-', 'shards'], /are of a crate, and the format is csv/],
  [['reproduce', '-o', 'x', 'shards'], /crate shards\/ro-crate-metadata\.json: no such file/],
  [['run', 'nothing.yaml'], /experiment nothing\.yaml: no such file/],
  [['plan', 'seeds.c'], /seeds\.c:4:1: the file: it is no list of keys and values; docs\/research\.md has/],
  [['run', '.'], /\. is not the folder of an experiment: it has no plan\.json/],
  [
    ['plan', 'nope.yaml'],
    /nope\.yaml:16:24: functions: the kernel \S+ has no function sys_nope with a point$/m,
  ],
  [['plan', 'bad.yaml'], /bad\.yaml:9:12: variants\.often\.harts: .*8/],
  [
    ['plan', '--dir', 'pipes.experiment', 'other.yaml'],
    /holds the results of plan [0-9a-f]{16}, and the file is now/,
  ],
  [['plan', '--dir', 'full', 'pipes.yaml'], /full is not empty and holds no plan/],
  [['shard', 'shards', '--of', '2'], /no engine says which shard this is .*give --index/],
  [['shard', 'shards', '--of', '2', '--index', '2'], /--index 2 of --of 2: the first is 0/],
  [['shard', 'shards'], /how many shards are there\? Give --of N/],
  [['verify', '--sample', '0', 'shards'], /expected per cent, above 0 and at most 100: 5% or 5/],
  [['verify', '--sample', '0.05', 'shards'], /write 0\.05%, or 5% if it is a share/],
  [['status', '--dir', 'none', 'pipes.yaml'], /none: no such folder/],
  [['report', 'broken'], /plan broken\/plan\.json: not JSON; it is damaged/],
] as const)('%j is refused in one line', (words, message) => {
  if (!existsSync(join(cwd, 'full'))) {
    cpSync(join(cwd, 'seeds.c'), join(cwd, 'full', 'seeds.c'), { recursive: true });
    cpSync(join(cwd, 'shards', 'plan.json'), join(cwd, 'broken', 'plan.json'), { recursive: true });
    writeFileSync(join(cwd, 'broken', 'plan.json'), '{"format"');
    writeFileSync(join(cwd, 'bad.yaml'), FILE.replace('often: {}', 'often: { harts: 9 }'));
    writeFileSync(join(cwd, 'nope.yaml'), FILE.replace('sys_pipe2', 'sys_pipe2, sys_nope'));
    writeFileSync(join(cwd, 'other.yaml'), FILE.replace('executions: 3', 'executions: 4'));
  }
  const ran = cli(...words);
  expect(ran).toMatchObject({ status: 125, stdout: '', stderr: expect.stringMatching(message) });
  expect(ran.stderr).toSatisfy(isOneLine);
  expect(readdirSync(join(cwd, 'full'))).toEqual(['seeds.c']);
});
