// Experiments about the fuzzer: a trial is a campaign, the same bytes whether its executor is new
// or has run another trial, and equal to the campaign of the library with the trial's seed.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExperimentTrial, FuzzPlan } from '../../experiment/schema.ts';
import { isOneLine, kcovbox } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-kind-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const cli = (...words: string[]) => kcovbox(['experiment', ...words], { cwd });

const FILE = `name: pipes
fuzz:
  calls: ['pipe2', 'read', 'write', 'close']
  batches: 2
  per-batch: 32
variants:
  without: { comparisons: false }
  with: {}
trials: 2
budget: { executions: 128 }
bugs: { any: { report: '.' } }
`;

beforeAll(() => {
  writeFileSync(join(cwd, 'pipes.yaml'), FILE);
  expect(cli('run', '-j', '2', 'pipes.yaml').status).toBe(0);
});

const trialOf = (folder: string, id: string): string =>
  readFileSync(join(cwd, folder, 'trials', id, 'trial.json'), 'utf8');

test('one process for all trials gives the bytes of two', () => {
  expect(cli('plan', '--dir', 'one', 'pipes.yaml').status).toBe(0);
  expect(cli('shard', 'one', '--index', '0', '--of', '1').status).toBe(0);
  for (const id of ['without/0000', 'without/0001', 'with/0000', 'with/0001'])
    expect(trialOf('one', id)).toBe(trialOf('pipes.experiment', id));
});

test('trials differ, each has its budget, and points are hook calls of the kernel', () => {
  const trials = ['with/0000', 'with/0001'].map(id => JSON.parse(trialOf('one', id)) as ExperimentTrial);
  expect(trials[0]!.runs).not.toEqual(trials[1]!.runs);
  for (const { executions, growth, points } of trials) {
    expect(executions).toBe(128);
    expect(growth.map(([at]) => at)).toEqual([64, 128]);
    expect(points).toHaveLength(growth.at(-1)![2]);
  }
  const report = cli('report', 'one');
  expect(report.stdout).toMatch(/^with: 2 of 2 trials, median \d+/m);
  const page = readFileSync(join(cwd, 'one', 'report.html'), 'utf8');
  expect(page).toContain('kernel/fs/pipe.c:pipe_write');
  expect(page).not.toMatch(/"key":"\?/); // every point is known
});

test('descriptions are an image of the plan, so that a crate has them', () => {
  const plan = JSON.parse(readFileSync(join(cwd, 'one', 'plan.json'), 'utf8')) as FuzzPlan;
  expect(readdirSync(join(cwd, 'one', 'images'))).toContain(plan.variants[0]!.descriptions);
  expect(cli('export', '--format', 'crate', '--date', '2026-11-24', '-o', 'crate', 'one').status).toBe(0);
  expect(cli('reproduce', '-o', 'again', 'crate').stdout).toMatch(/every byte is equal\n$/);
});

test.each([
  [FILE.replace('calls:', 'call:'), /:3:3: fuzz\.call: there is no such key/],
  [
    FILE.replace("report: '.'", 'status: 1'),
    /:11:9: bugs\.any: a campaign has titles of crashes: give report/,
  ],
  [
    FILE.replace('without: {', 'without: { conf: openbsd,'),
    /:7:14: conf: --conf openbsd is a kernel of openbsd/,
  ],
])('%j is refused with its place', (text, message) => {
  writeFileSync(join(cwd, 'bad.yaml'), text);
  const ran = cli('plan', 'bad.yaml');
  expect(ran).toMatchObject({ status: 125, stdout: '', stderr: expect.stringMatching(message) });
  expect(ran.stderr).toSatisfy(isOneLine);
});
