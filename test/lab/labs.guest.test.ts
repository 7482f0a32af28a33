// The proofs of `lab check`, for all labs: the solution has all points, the starter does not,
// mutants die, and the commands of the texts run. grade.guest.test.ts says the first two of labs 0
// and 5, with all attacks; labs.slow.test.ts runs the command itself on each lab. Here a check has
// some of its mutants and schedule seeds (sampled.ts); test/grade/schema.test.ts finds a mutant
// whose source is no longer there.
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
import { checksThatFind, MISTAKES, quotedIn } from './mistakes.ts';
import { sampledLab } from './sampled.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-labs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Of the points, in percent. */
const STARTER_MAX = 50;
const labs = labNames().filter(name => !/^(00|05|07)-/.test(name));

test.each(labs)('the solution of %s has all points, the starter at most half', name => {
  const lab = sampledLab(name, join(dir, 'labs'));
  const { folder, manifest } = openLab(lab);
  const given = join(dir, name);
  cpSync(join(folder, 'teacher', 'solution'), join(given, 'solution'), { recursive: true });
  cpSync(join(folder, 'starter'), join(given, 'starter'), { recursive: true });
  const graded = join(dir, `graded-${name}`);
  // A sandbox would build the kernels of a lab with a device again; the device here is our own.
  const unsafe = manifest.files.some(file => file.device) ? ['--unsafe'] : [];
  const words = ['grade', given, '--lab', lab, '-o', graded, '--no-capsules', ...unsafe];
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

const firsts = MISTAKES.filter(({ lab }, i) => lab !== MISTAKES[i - 1]?.lab);
test.each(firsts)('lab $lab finds: $name', mistake => {
  const found = checksThatFind(mistake, dir);
  expect(found.map(({ id }) => id)).toEqual(mistake.checks);
  for (const { why, replayed } of found) expect(replayed).toContain(quotedIn(why));
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
  const lab = sampledLab('7', join(dir, 'labs'));
  writeFileSync(join(lab, 'teacher', 'solution', 'seed.txt'), 'not known\n');
  const { status, stdout } = kcovbox(['lab', 'check', lab], {
    ...{ cwd: dir, timeout: 170_000 },
    env: { KCOVBOX_TRUST: '1' },
  });
  expect(stdout).toMatch(/^ {2}ok a schedule seed up to 200 of found fails on the starter$/m);
  expect(stdout.match(/^ *not ok .*/gm)).toBe(null);
  expect(status).toBe(0);
});

// A lab that a stranger made: its text may have any command, and its device is code of the host.
test('a lab that is not of the package runs nothing of its own without the word of its user', () => {
  expect(kcovbox(['lab', 'new', 'evil'], { cwd: dir }).status).toBe(0);
  const lab = join(dir, 'evil');
  writeFileSync(join(lab, 'text.md'), '# Evil\n\n```sh\ntouch ../../touched-by-lab\n```\n');
  const check = (env: Record<string, string>) => kcovbox(['lab', 'check', 'evil'], { cwd: dir, env });
  const refused = check({ KCOVBOX_TRUST: '' });
  expect([refused.status, refused.stderr]).toEqual([
    125,
    `kcovbox: ${join(lab, 'text.md')} has commands, which run with your rights: set KCOVBOX_TRUST=1 if you trust it\n`,
  ]);
  expect(refused.stdout).toBe('evil\n');
  writeFileSync(join(lab, 'text.md'), '# No commands\n');
  expect(check({ KCOVBOX_TRUST: '' }).status).toBe(0);
  const path = join(lab, 'lab.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { files: object[] };
  manifest.files.push({ name: 'board.ts', device: true });
  writeFileSync(path, JSON.stringify(manifest));
  writeFileSync(join(lab, 'starter', 'board.ts'), 'export default 1;\n');
  const work = join(dir, 'evil-work');
  expect(kcovbox(['lab', 'start', 'evil', work], { cwd: dir }).status).toBe(0);
  for (const words of [
    ['check', 'evil'],
    ['test', work],
  ]) {
    const ran = kcovbox(['lab', ...words], { cwd: dir, env: { KCOVBOX_TRUST: '' } });
    expect([words[0], ran.status, ran.stderr]).toEqual([
      words[0],
      125,
      `kcovbox: device board.ts of the lab ${lab} is code that runs with your rights: set KCOVBOX_TRUST=1 if you trust it\n`,
    ]);
  }
});
