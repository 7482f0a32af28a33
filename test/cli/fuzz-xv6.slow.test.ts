// `kcovbox fuzz --xv6`: xv6-riscv with hooks. Needs its sources: node setup/build-xv6.mjs --source
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Choice, Generator, Random } from '../../fuzz/index.ts';
import { loadDescriptions, xv6Texts } from '../../host/fuzz/descriptions.ts';
import { openTarget, prepareXv6 } from '../../host/fuzz/target.ts';
import { expectCampaign, expectRepeatable } from '../experiment/on-target.ts';
import { executionsAgree } from '../fuzz/agree.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const found = spawnSync(process.execPath, [join(ROOT, 'setup/build-xv6.mjs'), '--source'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const source = found.status === 0 ? found.stdout.trim() : undefined;
const noXv6 = missing(`the sources of xv6 (${found.stderr.trim()})`, source);

const PROGRAMS = 200;
/** A bug of ours, behind a number that no description has. */
const PLANTED = '  if(pid == 0x51234)\n    panic("planted");\n';
/** Others, of which each is one call of kill(0x51234). */
const OTHERS = [
  ['*(volatile int*)8 = 1;', /^crash: panic: kerneltrap at 0x8000[0-9a-f]{4}$/m],
  ['for(;;)\n      ;', /^crash: INFO: task hung in sys_kill$/m],
] as const;

describe.skipIf(noXv6)('xv6', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-xv6-'));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));
  const run = (...args: readonly string[]) => kcovbox([...args], { cwd, timeout: 1_200_000 });
  const exec = (text: string, ...args: readonly string[]) => {
    writeFileSync(join(cwd, 'p.txt'), text);
    return run('fuzz', 'exec', '--xv6', source!, ...args, 'p.txt');
  };

  it('both engines give each program the same records, and each program the same twice', async () => {
    const seed = seedFromEnvironment(0x5eed_0006);
    const choice = new Choice(loadDescriptions(xv6Texts(source!)));
    const generator = new Generator(new Random(BigInt(seed)), choice, []);
    const compiled = openTarget(await prepareXv6({ xv6: source!, engine: 'jit' }));
    const interpreted = openTarget(await prepareXv6({ xv6: source!, engine: 'interp' }));
    const next = () => generator.program();
    const how = { programs: PROGRAMS, seed };
    const { points, comparisons } = executionsAgree(compiled, interpreted, next, how);
    expect(points).toBeGreaterThan(100_000);
    expect(comparisons).toBeGreaterThan(100_000);
  });

  it('a campaign is the same with 1 and 2 workers, goes on, and is verified', () => {
    const words = ['fuzz', 'run', '--xv6', source!, '-n', '1024', '--seed', '7'];
    for (const jobs of ['1', '2']) expect(run(...words, '-j', jobs, `c${jobs}`).stderr).toBe('');
    const diff = spawnSync('diff', ['-r', 'c1', 'c2'], { cwd, encoding: 'utf8' });
    expect([diff.status, diff.stdout]).toEqual([0, '']);
    const whole = run('fuzz', 'run', '-n', '2048', 'c2');
    expect(whole.stdout).toMatch(/^2048 executions: \d{3,} edges, \d{2,} programs, \d crashes$/m);
    const verified = run('fuzz', 'verify', '--sample', '100', '--engine', 'interp', 'c1');
    expect(verified.stdout).toBe('1 epoch of 1 repeated: equal\n');
  });

  it('an experiment repeats its bytes, also from a crate, whose reader trusts nobody', () => {
    const on = { cwd, keys: `  xv6: ${source!}\n`, env: { KCOVBOX_TRUST: '1' } };
    const { plan, report, sources } = expectRepeatable(on);
    expect(plan.variants.map(({ target }) => target)).toEqual(['xv6', 'xv6']);
    expect(report).toMatch(/^with: 2 of 2 trials, median \d{3}\S* of \d{3} points, \d{3}\S* of \d{3} lines/m);
    expect(readFileSync(join(cwd, 'jobs-1/report.html'), 'utf8')).toContain('kernel/pipe.c:pipewrite');
    const name = source!.replace(/.*\//, '');
    for (const file of ['Makefile', 'kernel/pipe.c', 'mkfs/mkfs.c'])
      expect(sources).toContain(join('sources', name, file));
    expectCampaign(on, 'c1', '0x7', 1);
  });

  it('a file that calls it another Linux is refused in one line', async () => {
    const { machine } = await prepareXv6({ xv6: source! });
    expect(() => openTarget({ machine, kind: 'other' })).toThrow(/^the agent has not prepared its memory$/);
  });

  it('its images do not depend on where they are built', () => {
    const [first, second] = ['one', 'two'].map(name => {
      const words = ['fuzz', 'run', '--xv6', source!, '-n', '1', '--call', 'getpid', `built-${name}`];
      expect(kcovbox(words, { cwd, env: { KCOVBOX_CACHE: join(cwd, name) } }).status).toBe(0);
      return ['kernel.bin', 'initrd.bin'].map(file => readFileSync(join(cwd, `built-${name}`, file)));
    });
    expect(second!.map((bytes, i) => bytes.equals(first![i]!))).toEqual([true, true]);
  });

  it('measures itself, and is stable', () => {
    const { stdout } = run('fuzz', 'bench', '--xv6', source!, '--rounds', '2');
    expect(stdout).toContain('stability: 100 % of 128 programs');
  });

  it('names the functions, and what a call does is what xv6 says', () => {
    const pipe = exec(
      'pipe(&{>r0, >r1})\nwrite(r1, &"abc", 0x3)\nread(r0, &out[16], 0x10)\nwrite(r0, &"abc", 0x3)\n',
      '--functions',
    );
    expect(pipe.stdout).toMatch(/^pipe: 0x0, \d+ points\n.*\bpipealloc\b/m);
    expect(pipe.stdout).toMatch(/^write: 0x3, \d+ points\n.*\bpipewrite\b/m);
    expect(pipe.stdout).toMatch(/^read: 0x3, \d+ points\n.*\bpiperead\b/m);
    expect(pipe.stdout).toMatch(/^write: -1, \d+ points\n/m);
    const lines = exec('pipe(&{>r0, >r1})\n', '--lines').stdout;
    const [, numbers = ''] = /^ {2}pipealloc kernel\/pipe\.c:([\d,]+)$/m.exec(lines) ?? [];
    const text = readFileSync(join(source!, 'kernel/pipe.c'), 'utf8').split('\n');
    const ran = numbers.split(',').map(line => text[Number(line) - 1]);
    expect(ran.join('\n')).toContain('pi->readopen = 1;');
    // Process 2, whose child is 3; a file that is 32 bytes long; memory that ends.
    const values = exec(
      'getpid()\nfork()\nwait(0x0)\nr0 = open(&"f\\x00", 0x0)\nread(r0, &out[64], 0x40)\nread(r0, &out[64], 0x40)\n' +
        'sbrk(0x400000)\nsbrk(0x1000)\nexec(&"f\\x00", &{nil, nil, 0x0})\n',
    );
    const returned = [...values.stdout.matchAll(/^\w+: (\S+), /gm)].map(([, value]) => value);
    expect(returned.slice(0, 7)).toEqual(['0x2', '0x3', '0x3', '0x0', '0x20', '0x0', '-1']);
    expect(returned[8]).toBe('-1');
  });

  it.each([
    ['a read that nothing can end', 'pipe(&{>r0, 0x0})\nread(r0, &out[8], 0x8)\n', 'asleep'],
    ['sleep for a long time', 'sleep(0x7fffffff)\n', 'asleep'],
    [
      'much for the console',
      'r0 = open$create(&"console\\x00", 0x1)\nwrite$any(r0, 0x0, 0x4000)\n',
      'asleep',
    ],
    ['memory that is taken away', 'sbrk$less(0xffff4000)\ngetpid()\n', 'ended'],
    ['another program', 'exec(&"x\\x00", &{nil, nil, 0x0})\ngetpid()\n', 'ended'],
    ['the agent itself', 'exec(&"init\\x00", &{nil, nil, 0x0})\ngetpid()\n', 'ended'],
    ['the end of the process', 'kill(0x2)\ngetpid()\n', 'ended'],
  ])('%s is no crash', (_, text, end) => {
    const { status, stdout } = exec(text);
    expect(stdout).toMatch(new RegExp(`^${end}, [\\d,]+ instructions$`, 'm'));
    expect([status, stdout.includes('crash:')]).toEqual([0, false]);
  });

  it('the end of process 1 is a panic, whose C program and capsule show it', () => {
    const calls = ['--call', 'kill', '--call', 'getpid', '--call', 'fork'];
    const words = ['fuzz', 'run', '--xv6', source!, '-n', '2048', ...calls];
    const crash = 'crashes/panic-init-exiting';
    expect(run(...words, 'init').stdout).toMatch(/^ {2}at execution \d+: panic: init exiting$/m);
    expect(run('fuzz', 'repro', 'init').stdout).toBe('same  panic: init exiting\n');
    expect(run('replay', join('init', crash, 'repro.kcapsule')).stdout).toContain('panic: init exiting');
  });

  /** A tree whose kill() begins with this. */
  function plant(name: string, code: string): { file: string; text: string } {
    cpSync(source!, join(cwd, name), { recursive: true });
    const file = join(cwd, name, 'kernel/proc.c');
    const at = 'kill(int pid)\n{\n';
    const before = readFileSync(file, 'utf8');
    expect(before).toContain(at);
    const text = before.replace(at, `${at}${code}`);
    writeFileSync(file, text);
    return { file, text };
  }

  it('finds a planted bug behind a comparison, at the same execution with any workers', () => {
    const { file, text } = plant('planted', PLANTED);
    const words = ['fuzz', 'run', '--xv6', 'planted', '-n', '2048', '--call', 'kill', '--call', 'getpid'];
    const finds = ['1', '2'].map(jobs => run(...words, '-j', jobs, `p${jobs}`).stdout);
    expect(finds[0]).toMatch(/^ {2}at execution \d+: panic: planted$/m);
    expect(finds[1]).toBe(finds[0]);
    expect(readdirSync(join(cwd, 'p1/crashes'))).toContain('panic-planted');
    expect(run('fuzz', 'repro', 'p1').stdout).toContain('same  panic: planted\n');
    // The tree was only read.
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readdirSync(join(cwd, 'planted/kernel')).filter(name => /\.o$|hooks/.test(name))).toEqual([]);
  });

  it.each(OTHERS)('a crash of its kernel has a title: %s', (statement, title) => {
    plant('other', PLANTED.replace('panic("planted");', statement));
    writeFileSync(join(cwd, 'other.txt'), 'getpid()\nkill(0x51234)\n');
    const { status, stdout } = run('fuzz', 'exec', '--xv6', 'other', 'other.txt');
    expect([status, stdout]).toEqual([1, expect.stringMatching(title)]);
    rmSync(join(cwd, 'other'), { recursive: true });
  });

  it('a tree that does not compile is refused in one line, behind the words of the compiler', () => {
    cpSync(source!, join(cwd, 'broken'), { recursive: true });
    writeFileSync(join(cwd, 'broken/kernel/pipe.c'), 'int x = ;\n');
    const { status, stderr } = run('fuzz', 'run', '--xv6', 'broken', 'refused');
    expect(status).toBe(123);
    expect(stderr).toContain('kernel/pipe.c:1:');
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^kcovbox: xv6 in broken does not compile with clang/);
  });
});
