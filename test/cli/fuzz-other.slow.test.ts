// `kcovbox fuzz --linux`: a real Linux with KCOV. Needs the kernel: node setup/build-linux-kcov.mjs
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Choice, Generator, Random } from '../../fuzz/index.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget, prepareOtherTarget } from '../../host/fuzz/target.ts';
import { expectCampaign, expectRepeatable } from '../experiment/on-target.ts';
import { executionsAgree } from '../fuzz/agree.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const built = spawnSync(process.execPath, [join(ROOT, 'setup/build-linux-kcov.mjs'), '--cached'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const image = built.status === 0 ? built.stdout.trim() : undefined;
const noLinux = missing(`a linux with kcov (${built.stderr.trim()})`, image);

/** Writes of these words crash the kernel: LKDTM, the kernel's own test of crashes. */
const CRASHES = [
  ['BUG', 'kernel BUG in lkdtm_BUG'],
  ['WARNING', 'WARNING in lkdtm_WARNING'],
  ['EXCEPTION', 'BUG: unable to handle kernel access to user memory in lkdtm_EXCEPTION'],
  ['PANIC', 'kernel panic: dumptest'],
] as const;
const DIRECT = '/sys/kernel/debug/provoke-crash/DIRECT\\x00';

describe.skipIf(noLinux)('another Linux', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-other-'));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));
  const words = ['fuzz', 'run', '--linux', image!, '-n', '2048', '--seed', '7'];
  const run = (...args: readonly string[]) => kcovbox([...args], { cwd, timeout: 1_200_000 });

  it('both engines give each program the same records, and each program the same twice', async () => {
    const seed = seedFromEnvironment(0x5eed_0004);
    const generator = new Generator(
      new Random(BigInt(seed)),
      new Choice(loadDescriptions(descriptionTexts())),
      [],
    );
    const compiled = openTarget(await prepareOtherTarget({ linux: image!, engine: 'jit' }));
    const interpreted = openTarget(await prepareOtherTarget({ linux: image!, engine: 'interp' }));
    const next = () => generator.program();
    const how = { programs: 400, seed };
    const { points, comparisons } = executionsAgree(compiled, interpreted, next, how);
    expect(points).toBeGreaterThan(10_000);
    expect(comparisons).toBeGreaterThan(10_000);
  });

  it('a campaign is the same with 1 and 3 workers, goes on, and is verified', () => {
    for (const jobs of ['1', '3']) expect(run(...words, '-j', jobs, `c${jobs}`).status).toBe(0);
    const diff = spawnSync('diff', ['-r', 'c1', 'c3'], { cwd, encoding: 'utf8' });
    expect([diff.status, diff.stdout]).toEqual([0, '']);
    const whole = run('fuzz', 'run', '-n', '3072', 'c3');
    expect(whole.status).toBe(0);
    expect(whole.stdout).toMatch(/^3072 executions: \d{4,} edges, \d{2,} programs, 0 crashes$/m);
    const verified = run('fuzz', 'verify', '--sample', '100', '--engine', 'interp', 'c1');
    expect(verified.stdout).toBe('2 epochs of 2 repeated: equal\n');
  });

  it('an experiment repeats its bytes, also from a crate, and its report has source lines', () => {
    const keys = `  linux: ${image!}\n  vmlinux: ${join(dirname(image!), 'vmlinux')}\n`;
    const { plan, report } = expectRepeatable({ cwd, keys });
    expect(plan.variants.map(({ target }) => target)).toEqual(['other', 'other']);
    expect(report).toMatch(
      /^with: 2 of 2 trials, median \d{4}\S* of \d{5,} points, \d{3,}\S* of \d{5,} lines/m,
    );
    const page = readFileSync(join(cwd, 'jobs-1/report.html'), 'utf8');
    expect(page).toMatch(/fs\/\w+\.c:\w+/);
    expect(page).not.toMatch(/"key":"\?/); // every point is known
    expectCampaign({ cwd, keys }, 'c1', '0x7', 2);
  });

  it('names the functions of its vmlinux', () => {
    writeFileSync(join(cwd, 'pipe.txt'), 'pipe2(&{>r0, >r1}, 0x800)\nwrite(r1, &"abc", 0x3)\n');
    const vmlinux = ['--vmlinux', join(dirname(image!), 'vmlinux')];
    const { stdout } = run('fuzz', 'exec', '--linux', image!, ...vmlinux, '--functions', 'pipe.txt');
    expect(stdout).toMatch(/^pipe2: 0x0, \d+ points\n.*\bdo_pipe2\b/m);
    expect(stdout).toMatch(/^write: 0x3, \d+ points\n.*\bpipe_write\b/m);
  });

  it.each(CRASHES)('%s: its title is that of the report', (word, title) => {
    const text = `openat(0xffffff9c, &"${DIRECT}", 0x1, 0x0)\nwrite(0x3, &"${word}", 0x${word.length.toString(16)})\n`;
    writeFileSync(join(cwd, 'crash.txt'), text);
    const { status, stdout } = run('fuzz', 'exec', '--linux', image!, 'crash.txt');
    expect(stdout).toContain(`crash: ${title}\n`);
    expect(status).toBe(1);
  });

  it('reproduces a crash from C, and its capsule replays', () => {
    const describe = ['--describe', 'crash.kd'];
    writeFileSync(
      join(cwd, 'crash.kd'),
      'strings lkdtm_files = "/sys/kernel/debug/provoke-crash/DIRECT"\n' +
        'strings lkdtm_words = "BUG", "WARNING"\nresource lkdtm_fd: fd = -1\n' +
        'call openat$lkdtm(dir: int32 = -100, path: ptr string lkdtm_files, flags: int32 = 1) -> lkdtm_fd\n' +
        'call write$lkdtm(fd: lkdtm_fd, word: ptr string lkdtm_words, n: int64[2:16])\n',
    );
    const calls = ['--call', 'openat$lkdtm', '--call', 'write$lkdtm'];
    const { status } = run(...words.slice(0, 4), '-n', '1024', ...describe, ...calls, 'crashes');
    expect(status).toBe(1);
    const folders = readdirSync(join(cwd, 'crashes/crashes'));
    expect(folders).toContain('kernel-bug-in-lkdtm-bug');
    const repro = run('fuzz', 'repro', 'crashes');
    expect(repro.stdout).toContain('same  kernel BUG in lkdtm_BUG\n');
    const capsule = 'crashes/crashes/kernel-bug-in-lkdtm-bug/repro.kcapsule';
    expect(readFileSync(join(cwd, capsule)).length).toBeGreaterThan(1000);
    expect(run('replay', capsule).stdout).toContain('kernel BUG at ');
  });
});
