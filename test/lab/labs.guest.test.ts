// The proofs of `lab check`, for all labs: the solution has all points, the starter does not, each
// mutant dies, and the commands of the texts run. grade.guest.test.ts says the first two of labs 0
// and 7, with all attacks; labs.slow.test.ts runs the command itself on each lab.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { labScore } from '../../grade/schema.ts';
import { labNames, labText, openLab } from '../../host/lab/lab.ts';
import { commandsOf } from '../../host/lab/prove.ts';
import { kernelFolder, startLab } from '../../host/lab/workspace.ts';
import { kcovbox, shell } from '../support/command.ts';
import { withoutProgress } from './attacks.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-labs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Of the points, in percent. */
const STARTER_MAX = 50;
const labs = labNames().filter(name => !/^(00|07)-/.test(name));

test.each(labs)('the solution of %s has all points, the starter at most half', name => {
  const { folder, manifest } = openLab(name);
  const given = join(dir, name);
  cpSync(join(folder, 'teacher', 'solution'), join(given, 'solution'), { recursive: true });
  cpSync(join(folder, 'starter'), join(given, 'starter'), { recursive: true });
  const graded = join(dir, `graded-${name}`);
  // A sandbox would build the kernels of a lab with a device again; the device here is our own.
  const unsafe = manifest.files.some(file => file.device) ? ['--unsafe'] : [];
  const words = ['grade', given, '--lab', name, '-o', graded, '--no-capsules', ...unsafe];
  const ran = kcovbox(words, { cwd: dir, timeout: 170_000 });
  expect({ ...ran, stderr: withoutProgress(ran.stderr) }).toMatchObject({ status: 0, stderr: '' });
  const scoreOf = (submission: string) =>
    labScore.parse(JSON.parse(readFileSync(join(graded, submission, 'score.json'), 'utf8')));
  const [solution, starter] = [scoreOf('solution'), scoreOf('starter')];
  expect(solution.checks.filter(({ status }) => status !== 'pass')).toEqual([]);
  expect(solution.points).toBe(solution.of);
  for (const { id, kind } of manifest.checks) {
    if (kind !== 'mutants') continue;
    const [, killed, all] =
      /^(\d+) of (\d+) /.exec(solution.checks.find(check => check.id === id)!.why) ?? [];
    expect({ id, killed }).toEqual({ id, killed: all });
  }
  expect(starter.status).not.toBe('error');
  expect((100 * starter.points) / starter.of).toBeLessThanOrEqual(STARTER_MAX);
});

/** Mistakes in the solution of lab 2, with the checks that find them. */
const MISTAKES: readonly (readonly [name: string, change: (code: string) => string, checks: string[]])[] = [
  ['without-lock', code => code.replace(/^ +mutex_(?:un)?lock\(.*\n/gm, ''), ['locks', 'schedules']],
  ['keeps-lock', code => code.replace(/count = -ENOMEM;\s+break;/, 'return -ENOMEM;'), ['schedules']],
  [
    'lock-for-each-page',
    code =>
      code
        .replace(/^ +mutex_(?:un)?lock\(.*\n/gm, '')
        .replace(/vm_find\(vm, va\)/, '({ mutex_lock(&vm->lock); vm_find(vm, va); })')
        .replace(/ {12}break;/, '            mutex_unlock(&vm->lock);\n$&')
        .replace(/count\+\+;/, '$&\n        mutex_unlock(&vm->lock);'),
    ['schedules'],
  ],
];

test('lab 2 finds a lock that is not taken, not given back, or taken for each page', () => {
  const { folder } = openLab('2');
  const given = join(dir, 'mistakes');
  for (const [name, change] of MISTAKES) {
    cpSync(join(folder, 'teacher', 'solution'), join(given, name), { recursive: true });
    const path = join(given, name, 'sys_resident.c');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }
  const graded = join(dir, 'graded-mistakes');
  const ran = kcovbox(['grade', given, '--lab', '2', '-o', graded, '--no-capsules'], {
    cwd: dir,
    timeout: 170_000,
  });
  expect({ ...ran, stderr: withoutProgress(ran.stderr) }).toMatchObject({ status: 0, stderr: '' });
  for (const [name, , checks] of MISTAKES) {
    const score = labScore.parse(JSON.parse(readFileSync(join(graded, name, 'score.json'), 'utf8')));
    const failed = score.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
    expect({ name, failed }).toEqual({ name, failed: expect.arrayContaining(checks) });
    expect(score.checks.filter(({ status }) => status === 'compile')).toEqual([]);
  }
});

// Those that judge the starter are above. Lab 7 is below, with all of `lab check`.
const commands = labNames()
  .filter(name => !name.startsWith('07-'))
  .flatMap(name =>
    commandsOf(labText(openLab(name), kernelFolder()))
      .filter(({ command }) => !/^(?:cd|kcovbox lab (?:start|test))\b/.test(command))
      .map(({ command, status }) => ({ name, command, status })),
  );
test.each(commands)('$name: $command', ({ name, command, status }) => {
  const work = join(dir, `work-${name}`);
  if (!existsSync(work)) startLab(openLab(name), work);
  expect(shell(command, { cwd: work })).toMatchObject({ status });
});

// Each edit of the kernel moves the seeds that fail: the solution's own number is not needed.
test('lab check looks for the schedule seed of a solution', () => {
  const lab = join(dir, 'own-race');
  cpSync(openLab('7').folder, lab, { recursive: true });
  writeFileSync(join(lab, 'teacher', 'solution', 'seed.txt'), 'not known\n');
  const { status, stdout } = kcovbox(['lab', 'check', lab], { cwd: dir, timeout: 170_000 });
  expect(stdout).toMatch(/^ {2}ok a schedule seed up to 200 of found fails on the starter$/m);
  expect(stdout.match(/^ *not ok .*/gm)).toBe(null);
  expect(status).toBe(0);
});
