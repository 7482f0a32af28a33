// Experiments about the fuzzer: a trial is a campaign, with the same bytes whether its executor is
// new or has run other trials.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExperimentTrial, FuzzPlan } from '../../experiment/schema.ts';
import { sha256 } from '../../toolchain/index.ts';
import { isOneLine, kcovbox, ROOT } from '../support/command.ts';

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

/** The worked example of docs/research.md, in small. */
const EXAMPLE = readFileSync(join(ROOT, 'examples', 'experiment', 'comparisons.yaml'), 'utf8')
  .replace('trials: 20', 'trials: 2')
  .replace('batches: 8, per-batch: 32', 'batches: 4, per-batch: 32')
  .replace('executions: 4096', 'executions: 512');

beforeAll(() => {
  writeFileSync(join(cwd, 'pipes.yaml'), FILE);
  writeFileSync(join(cwd, 'comparisons.yaml'), EXAMPLE);
  expect(cli('run', '-j', '1', '--dir', 'one', 'pipes.yaml').status).toBe(0);
});

const trialOf = (folder: string, id: string): string =>
  readFileSync(join(cwd, folder, 'trials', id, 'trial.json'), 'utf8');
const filesOf = (folder: string): [string, string][] =>
  readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))])
    .sort();

test('the worked example, from one process and from two: every file is equal, the report too', () => {
  for (const jobs of ['1', '2']) {
    expect(cli('run', '-j', jobs, '--dir', jobs, 'comparisons.yaml').status).toBe(0);
    expect(cli('report', jobs).stdout).toMatch(/^with vs without, points: A12 /m);
    expect(cli('export', '-o', join(jobs, 'data.csv'), jobs).status).toBe(0);
  }
  expect(filesOf('2')).toEqual(filesOf('1'));
  expect(trialOf('1', 'with/0000')).not.toBe(trialOf('1', 'without/0000'));
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
    /:7:14: conf: openbsd: the fuzzer needs a kernel with kcov of Linux, such as linux\+kasan/,
  ],
  [FILE.replace("'close'", "'clsoe'"), /:3:3: calls: no call matches "clsoe"/],
  [
    FILE.replace('  batches', '  describe: [pipes.yaml]\n  batches'),
    /:4:3: describe: pipes\.yaml:1: "name" begins no declaration/,
  ],
])('%j is refused with its place', (text, message) => {
  writeFileSync(join(cwd, 'bad.yaml'), text);
  const ran = cli('plan', 'bad.yaml');
  expect(ran).toMatchObject({ status: 125, stdout: '', stderr: expect.stringMatching(message) });
  expect(ran.stderr).toSatisfy(isOneLine);
});

test('a bug is the canary of a historical one, where the kernel has them', () => {
  const file = FILE.replace(
    / {2}calls: .*\n/,
    "  conf: linux+bugs\n  append: 'bugs=all'\n  calls: ['getpid', 'tkill']\n",
  );
  writeFileSync(join(cwd, 'canary.yaml'), file.replace("report: '.'", 'canary: tkill_siginfo_leak'));
  expect(cli('run', '-j', '1', '--dir', 'canary', 'canary.yaml').status).toBe(0);
  const { bugs } = JSON.parse(trialOf('canary', 'with/0000')) as ExperimentTrial;
  expect(bugs).toMatchObject([{ bug: 'any', line: 'triggers tkill_siginfo_leak' }]);
  expect(readFileSync(join(cwd, 'canary', 'trials', 'with', '0000', 'any.txt'), 'utf8')).toMatch(
    /^.*tkill\(/m,
  );
});

test('a harness instead of a kernel: its own functions, and the same from a crate', () => {
  writeFileSync(
    join(cwd, 'parse.yaml'),
    `name: parse
fuzz: { harness: ${JSON.stringify(join(ROOT, 'examples/fuzz/parse.c'))}, batches: 2, per-batch: 32 }
variants:
  without: { comparisons: false }
  with: {}
trials: 1
budget: { executions: 512 }
functions: [LLVMFuzzerTestOneInput]
`,
  );
  expect(cli('run', '-j', '1', '--dir', 'parse', 'parse.yaml').status).toBe(0);
  const { stdout } = cli('report', 'parse');
  const [, points, all] = /^with: 1 of 1 trials, median (\d+) of (\d+) points/m.exec(stdout) ?? [];
  expect(Number(points)).toBeGreaterThan(3);
  expect(Number(points)).toBeLessThanOrEqual(Number(all));
  expect(readFileSync(join(cwd, 'parse', 'report.html'), 'utf8')).toContain('parse.c:LLVMFuzzerTestOneInput');
  const words = ['--format', 'crate', '--date', '2026-01-02', '--author', 'A'];
  expect(cli('export', ...words, '-o', 'parse-crate', 'parse').status).toBe(0);
  expect(readFileSync(join(cwd, 'parse-crate/sources/parse.c'), 'utf8')).toContain('LLVMFuzzerTestOneInput');
  expect(cli('reproduce', '-o', 'parse-again', 'parse-crate').status).toBe(0);
});

test('variants whose device fails or does not; the folder has the device, and a crate too', () => {
  const trusting = (...words: string[]) =>
    kcovbox(['experiment', ...words], { cwd, env: { KCOVBOX_TRUST: '1' } });
  const example = readFileSync(join(ROOT, 'examples', 'experiment', 'faults.yaml'), 'utf8')
    .replaceAll('../', `${join(ROOT, 'examples')}/`)
    .replace('trials: 20', 'trials: 1')
    .replace(/ {2}values:\n.*\n/, '')
    .replace('executions: 4096', 'executions: 1024');
  writeFileSync(join(cwd, 'faults.yaml'), example);
  const refused = cli('run', '--dir', 'faults-0', 'faults.yaml');
  expect(refused.stderr).toMatch(
    /faults\.yaml:\d+:\d+: device: device \S+thermo\.ts is code that runs with your rights: set KCOVBOX_TRUST/,
  );
  expect(isOneLine(refused.stderr)).toBe(true);
  for (const jobs of ['1', '2'])
    expect(trusting('run', '-j', jobs, '--dir', `faults-${jobs}`, 'faults.yaml').status).toBe(0);
  expect(filesOf('faults-2')).toEqual(filesOf('faults-1'));
  const bugsOf = (variant: string) =>
    (JSON.parse(trialOf('faults-1', `${variant}/0000`)) as ExperimentTrial).bugs;
  expect(bugsOf('all')).toMatchObject([
    { bug: 'trusts', line: 'KASAN: slab-out-of-bounds Write in thermo_read' },
  ]);
  expect(bugsOf('none')).toEqual([]);
  const trusts = join(cwd, 'faults-1', 'trials', 'all', '0000', 'trusts.txt');
  expect(readFileSync(trusts, 'utf8')).toMatch(/^!fault thermo:/);
  expect(readdirSync(join(cwd, 'faults-1', 'sources'))).toEqual(['trusts.c']);
  const words = ['--format', 'crate', '--date', '2026-01-02', '--author', 'A'];
  expect(cli('export', ...words, '-o', 'faults-crate', 'faults-1').status).toBe(0);
  expect(cli('reproduce', '-o', 'faults-no', 'faults-crate').stderr).toContain('KCOVBOX_TRUST=1');
  expect(trusting('reproduce', '-o', 'faults-again', 'faults-crate').status).toBe(0);
});

test('an option of the compiler that may run a program needs the word of the user', () => {
  writeFileSync(
    join(cwd, 'flags.yaml'),
    `name: flags\nfuzz: { harness: ${join(ROOT, 'examples/fuzz/parse.c')}, cflags: [--ld-path=./evil] }\n` +
      'variants: { a: {} }\ntrials: 1\nbudget: { executions: 64 }\n',
  );
  const refused = cli('plan', 'flags.yaml');
  expect(refused.stderr).toMatch(
    /flags\.yaml:2:\d+: cflags: --ld-path=\.\/evil may run programs or write files with your rights/,
  );
  expect(isOneLine(refused.stderr)).toBe(true);
});

test('a fault of a device that is not there names its place in the file', () => {
  writeFileSync(
    join(cwd, 'absent.yaml'),
    'name: absent\nfuzz: {}\nvariants:\n  a:\n    fault: [disk]\ntrials: 1\nbudget: { executions: 64 }\n',
  );
  const refused = cli('plan', 'absent.yaml');
  expect(refused.stderr).toMatch(
    /absent\.yaml:5:\d+: fault: fault of disk: the devices of programs are edu\n$/,
  );
  expect(isOneLine(refused.stderr)).toBe(true);
});

test.each([
  ['conf: linux+kasan', /conf: is for a kernel, not for a harness/],
  ['append: quiet', /append: is for a kernel/],
  ['schedule: rw', /schedule: is for a kernel/],
  ['fault: [edu]', /fault: is for a kernel/],
])('%s beside a harness is refused', (line, reason) => {
  writeFileSync(
    join(cwd, 'both.yaml'),
    `name: both\nfuzz:\n  harness: parse.c\n  ${line}\nvariants: { a: {} }\ntrials: 1\nbudget: { executions: 64 }\n`,
  );
  const refused = cli('plan', 'both.yaml');
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toMatch(reason);
  expect(isOneLine(refused.stderr)).toBe(true);
});
