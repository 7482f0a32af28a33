// `kcovbox grade` on simulated submissions: each gets the grade that it deserves, with the reason
// in one line; twice the same bytes. The slow test does all labs, with all their schedule seeds.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { labScore } from '../../grade/schema.ts';
import { openLab } from '../../host/lab/lab.ts';
import { commandsOf } from '../../host/lab/prove.ts';
import { canSandbox, runSandboxed } from '../../host/lab/sandbox.ts';
import { requireTool } from '../../toolchain/index.ts';
import { kcovbox, ROOT, shell } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { undeserved, withoutProgress, writeAttacks } from './attacks.ts';
import { CLASS_BUDGET, sampledLab } from './sampled.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-grade-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a failed check leaves a run that replays; an archive is the same bytes and the same hash', () => {
  const work = join(dir, 'work');
  expect(kcovbox(['lab', 'start', '0', work], { cwd: dir }).status).toBe(0);
  const text = readFileSync(join(work, 'README.md'), 'utf8');
  const [, kernel = ''] = /The source is in the folder `(.*)`/.exec(text) ?? [];
  expect(existsSync(join(kernel, 'fs', 'pipe.c'))).toBe(true);
  expect(text).not.toContain('{kernel}');
  const tested = kcovbox(['lab', 'test', '--only', 'places'], { cwd: work });
  expect(tested).toMatchObject({ status: 1, stderr: '' });
  expect(tested.stdout).toMatch(
    /^fail +0\/60 +places: .*\n {2}why +0 of 3 places ran; not fs\/sys_rw\.c:\d+ /m,
  );
  const json = kcovbox(['lab', 'test', '--only', 'places', '--json'], { cwd: work });
  expect(json).toMatchObject({ status: 1, stderr: '' });
  const score = labScore.parse(JSON.parse(json.stdout));
  expect(tested.stdout).toContain(`\nhash ${score.sha256}\n`);
  expect(score.checks.find(({ id }) => id === 'places')).toMatchObject({ status: 'fail', points: 0, of: 60 });
  const [, command = ''] = /^ {2}back +(kcovbox debug .*)$/m.exec(tested.stdout) ?? [];
  const at = shell(`${command} -x 'goto end' -x where`, { cwd: work });
  expect(at.status).toBe(0);
  expect(at.stdout).toMatch(/poweroff|machine_off|at kernel\//);
  expect(kcovbox(['replay', join('failed', 'places.kcapsule')], { cwd: work }).status).toBe(0);
  const submit = () => kcovbox(['lab', 'submit', '-o', 'ada.zip'], { cwd: work });
  expect(submit()).toMatchObject({
    status: 0,
    // Not that of the score, which `lab test` prints.
    stdout: `ada.zip: first.c, answers.txt\nhash of the files ${score.submission.sha256}\n`,
  });
  const bytes = readFileSync(join(work, 'ada.zip'));
  submit();
  expect(readFileSync(join(work, 'ada.zip')).equals(bytes)).toBe(true);
  // Nobody goes without points for the name of a file and without a word.
  const few = join(dir, 'few');
  mkdirSync(few);
  writeFileSync(join(few, 'ADA.ZIP'), bytes);
  writeFileSync(join(few, 'bob.tar'), bytes);
  const graded = kcovbox(['grade', 'few', '--lab', '0', '--no-capsules'], { cwd: dir });
  expect(graded).toMatchObject({ status: 0, stdout: expect.stringMatching(/^ADA .*\n1 submission,/s) });
  expect(graded.stderr).toMatch(/^kcovbox: bob\.tar is not judged: .*\n$/);
  // Results among the submissions would be judged as one.
  symlinkSync('few', join(dir, 'same'));
  for (const [folder, output] of [
    ['few', 'few/out'],
    ['few', 'same/out/deep'],
    ['same', './few/../few/out'],
  ] as const) {
    const ran = kcovbox(['grade', folder, '--lab', '0', '-o', output], { cwd: dir });
    expect(ran.stderr).toBe(
      `kcovbox: grade: -o ${output} is in ${folder}, and would be judged as a submission; give a folder elsewhere\n`,
    );
    expect(ran.status).toBe(125);
  }
  expect(readdirSync(few).sort()).toEqual(['ADA.ZIP', 'bob.tar']);
  // The sandbox of the system, where there is one, changes nothing.
  const outside = kcovbox(['grade', 'few', '--lab', '0', '--no-capsules', '--unsafe'], { cwd: dir });
  expect(outside).toEqual(graded);
});

// The command in the sandbox is `build`: `grade` would compile the kernel with the other compiler.
test.skipIf(missing('bubblewrap that works', canSandbox() || undefined))(
  'a compiler outside of the folders of the system is there in the sandbox',
  async () => {
    const real = dirname(realpathSync(requireTool('clang')));
    const opt = join(dir, 'opt', 'llvm-own');
    mkdirSync(join(opt, 'bin'), { recursive: true });
    for (const name of ['clang', 'lld', 'llvm-nm']) copyFileSync(join(real, name), join(opt, 'bin', name));
    symlinkSync('lld', join(opt, 'bin', 'ld.lld'));
    symlinkSync(join(real, '..', 'lib'), join(opt, 'lib'));
    // A link to the folder, and one to the program.
    symlinkSync('llvm-own', join(dir, 'opt', 'llvm'));
    mkdirSync(join(dir, 'links'));
    symlinkSync(join(dir, 'opt', 'llvm', 'bin', 'clang'), join(dir, 'links', 'clang'));
    const [given, built] = [join(dir, 'own-clang'), join(dir, 'built')];
    for (const folder of [given, built]) mkdirSync(folder);
    writeFileSync(join(given, 'ada.c'), 'int main(void)\n{\n    return 0;\n}\n');
    const clang = process.env['KCOVBOX_CLANG'];
    process.env['KCOVBOX_CLANG'] = join(dir, 'links', 'clang');
    try {
      const words = ['build', join(given, 'ada.c'), '-o', join(built, 'ada')];
      const visible = { reads: [given], writes: [[built, built] as const], ownCache: true };
      expect(await runSandboxed(words, visible, new AbortController().signal)).toBe(0);
    } finally {
      if (clang === undefined) delete process.env['KCOVBOX_CLANG'];
      else process.env['KCOVBOX_CLANG'] = clang;
    }
    expect(readFileSync(join(built, 'ada'), 'latin1')).toMatch(/^\x7fELF/);
  },
);

test.each(['0', '5'])('each submission of lab %s gets its grade', async word => {
  const lab = sampledLab(word, join(dir, 'labs'), CLASS_BUDGET);
  const folder = join(dir, `class-${word}`);
  const attacks = await writeAttacks(openLab(lab), folder);
  const graded = join(dir, `graded-${word}`);
  const ran = kcovbox(['grade', folder, '--lab', lab, '-o', graded, '--no-capsules'], {
    cwd: dir,
    timeout: 170_000,
  });
  expect(withoutProgress(ran.stderr)).toBe('');
  expect(ran.status).toBe(0);
  expect(attacks.map(attack => undeserved(graded, attack)).filter(Boolean)).toEqual([]);
  expect(attacks.length).toBeGreaterThanOrEqual(10);
  // Standard output has one line for each submission, behind them what is alike, and the sum.
  const lines = ran.stdout.trimEnd().split('\n');
  expect(lines.filter(line => /^\S+ +\d+\/100 /.test(line))).toHaveLength(attacks.length);
  expect(lines.at(-1)).toMatch(new RegExp(`^${attacks.length} submissions, mean `));
  expect(readdirSync(graded)).toEqual(expect.arrayContaining(['class.html', 'junit.xml', 'scores.csv']));
});

test('any number of processes: the same results', async () => {
  const folder = join(dir, 'class-jobs');
  const attacks = await writeAttacks(openLab('0'), folder);
  for (const { name } of attacks)
    if (!['correct', 'classic', 'broken', 'nothing'].includes(name))
      rmSync(join(folder, name), { recursive: true });
  const graded = ['1', '3'].map(jobs => {
    const output = join(dir, `graded-jobs-${jobs}`);
    const ran = kcovbox(['grade', folder, '--lab', '0', '-o', output, '-j', jobs], { cwd: dir });
    expect({ ...ran, stderr: withoutProgress(ran.stderr) }).toMatchObject({ status: 0, stderr: '' });
    const files = readdirSync(output, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .sort()
      .map(path => [path.slice(output.length), readFileSync(path, 'base64')]);
    return { stdout: ran.stdout, files };
  });
  expect(graded[1]).toEqual(graded[0]);
  expect(graded[0]!.files.some(([path]) => path!.endsWith('.kcapsule'))).toBe(true);
});

test('the commands of the guide grade a class twice, with the same scores', () => {
  const guide = readFileSync(join(ROOT, 'docs', 'teaching.md'), 'utf8');
  const [, section = ''] = /^## Grading\n([\s\S]*?)^## /m.exec(guide) ?? [];
  const commands = commandsOf(section).map(({ command }) => command.replace('--lab 1', '--lab 0'));
  expect(commands.map(command => command.split(' ')[0])).toEqual(['kcovbox', 'kcovbox', 'cmp']);
  const work = join(dir, 'guide');
  const handedIn = join(work, 'submissions', 'ada');
  expect(kcovbox(['lab', 'start', '0', handedIn], { cwd: dir }).status).toBe(0);
  for (const command of commands) {
    const { status, stdout } = shell(command, { cwd: work });
    expect({ status, isSilent: stdout === '' }, command).toEqual({
      status: 0,
      isSilent: /^cmp/.test(command),
    });
  }
  // The student has the same hash.
  const { stdout } = kcovbox(['lab', 'test'], { cwd: handedIn });
  const [, hash = 'none'] = /^hash (\w+)$/m.exec(stdout) ?? [];
  expect(readFileSync(join(work, 'graded', 'scores.csv'), 'utf8')).toContain(hash);
});
