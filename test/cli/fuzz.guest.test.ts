// `kcovbox fuzz` as a user starts it: campaigns with planted bugs, found within a stated number of
// executions; the same bytes with any number of workers, on both engines, on every Node.js, and
// after a kill -9; crashes that are repeated by a C program and a capsule.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fuzzTarget } from '../../library/node.ts';
import { SCHEMAS } from '../../run/schemas.ts';
import { COMMAND, isOneLine, kcovbox, kcovboxLines, type Ran, withoutProgress } from '../support/command.ts';
import { otherNodeVersions } from '../support/nodes.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const BUILDING = /^kcovbox: building the \S+ kernel.*\n/gm;
/** Without the lines about a kernel that is not in the cache yet. */
function cli(...words: string[]): Ran {
  const ran = kcovbox(['fuzz', ...words], { cwd });
  return { ...ran, stderr: ran.stderr.replace(BUILDING, '') };
}

/** The contents of a folder, by path. */
function contents(dir: string, without: readonly string[] = []): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(cwd, dir), { withFileTypes: true, recursive: true }))
    if (entry.isFile() && !without.includes(entry.name)) {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      files[path.slice(join(cwd, dir).length)] = readFileSync(path, 'latin1');
    }
  return files;
}

/** Bugs of the debug kernel that one call shows, once its name is right. */
const PLANTED = `strings provoke = "/dev/provoke"
strings provocations = "heap-overflow", "use-after-free", "shift", "lock-order", "null", "panic", "nothing"
resource provoke_fd: fd
call openat$provoke(dir: int32 = -100, path: ptr string provoke, flags: int32 = 1, mode: int32 = 0) -> provoke_fd
call write$provoke(fd: provoke_fd, buf: ptr string provocations, n: len64 buf)
`;
const CALLS = ['*$provoke', 'read', 'write', 'openat', 'pipe2', 'dup', 'close'].flatMap(c => ['--call', c]);
/** Within so many executions all of them are found. */
const WITHIN = 2048;

describe('planted bugs', () => {
  let ran: Ran;
  beforeAll(() => {
    writeFileSync(join(cwd, 'planted.kd'), PLANTED);
    const kernel = ['--kasan', '--ubsan', '--lockdep'];
    ran = cli(
      'run',
      ...kernel,
      '--describe',
      'planted.kd',
      ...CALLS,
      '-n',
      String(WITHIN),
      '-j',
      '2',
      'planted',
    );
  });

  test('are found with their titles, at executions that the summary names', () => {
    expect(ran).toMatchObject({ status: 1, stderr: '' });
    const titles = [...ran.stdout.matchAll(/^ {2}at execution (\d+): (.*)$/gm)];
    expect(titles.map(([, , title]) => title).sort()).toEqual([
      'BUG: unable to handle kernel NULL pointer dereference in do_null',
      'KASAN: slab-out-of-bounds Write in do_heap_overflow',
      'KASAN: slab-use-after-free Write in do_use_after_free',
      'UBSAN: shift-out-of-bounds in do_shift',
      'kernel panic: provoked in do_panic',
      'possible deadlock in do_lock_order',
    ]);
    for (const [, execution] of titles) expect(Number(execution)).toBeLessThanOrEqual(WITHIN);
  });

  test('each is repeated by its C program, and by the capsule of that', () => {
    const repro = cli('repro', 'planted');
    expect(repro).toMatchObject({ status: 0, stderr: '' });
    expect(repro.stdout.match(/^same {2}/gm)).toHaveLength(6);
    const folder = join('planted', 'crashes', 'kasan-slab-out-of-bounds-write-in-do-heap-overflow');
    const replay = kcovbox(['replay', join(folder, 'repro.kcapsule')], { cwd });
    expect(replay.stderr).toMatch(/^kcovbox: the same run: /);
    expect(replay.stdout).toContain('BUG: KASAN: slab-out-of-bounds in do_heap_overflow');
    const again = cli(
      'exec',
      '--kasan',
      '--ubsan',
      '--lockdep',
      '--describe',
      'planted.kd',
      join(folder, 'program.txt'),
    );
    expect(again.status).toBe(1);
    expect(again.stdout).toMatch(/^crash: KASAN: slab-out-of-bounds Write in do_heap_overflow$/m);
  });
});

describe('one campaign', () => {
  const N = '2048';
  beforeAll(() => {
    expect(cli('run', '-n', N, '-j', '1', '--seed', '5', 'one')).toMatchObject({ status: 0, stderr: '' });
  });

  test('is the same with three workers on the interpreter, in two parts', () => {
    cli('run', '-n', '1024', '-j', '3', '--engine', 'interp', '--seed', '5', 'three');
    expect(cli('run', '-n', N, '-j', '2', '--engine', 'interp', 'three')).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(contents('three')).toEqual(contents('one'));
  });

  // One campaign for three things that must not matter; fuzz.slow.test.ts has one for each version.
  test('goes on after kill -9, with the same bytes, on other versions of Node.js', async () => {
    const [first = process.execPath, second = first] = otherNodeVersions().map(({ path }) => path);
    const words = [COMMAND, 'fuzz', 'run', '-n', N, '-j', '2', '--seed', '5', 'killed'];
    const child = spawn(first, words, { cwd, stdio: 'ignore' });
    const journal = join(cwd, 'killed', 'epochs.jsonl');
    while (!existsSync(journal) || readFileSync(journal, 'utf8') === '')
      await new Promise(r => setTimeout(r, 50));
    child.kill('SIGKILL');
    await once(child, 'exit');
    // A line that was not written whole.
    appendFileSync(journal, '{"epoch":');
    const again = [COMMAND, 'fuzz', 'run', '-n', N, '-j', '2', 'killed'];
    const { status, stderr } = spawnSync(second, again, { cwd, encoding: 'utf8', timeout: 120_000 });
    expect([status, withoutProgress(stderr)]).toEqual([0, '']);
    expect(contents('killed')).toEqual(contents('one'));
  });

  test('ends in order at SIGINT', async () => {
    const words = [COMMAND, 'fuzz', 'run', '-n', '100000000', '-j', '2', 'interrupted'];
    const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', chunk => {
      said += chunk;
    });
    const journal = join(cwd, 'interrupted', 'epochs.jsonl');
    while (!existsSync(journal) || readFileSync(journal, 'utf8') === '')
      await new Promise(r => setTimeout(r, 50));
    child.kill('SIGINT');
    const [status] = await once(child, 'close');
    expect(status).toBe(130);
    const epochs = readFileSync(journal, 'utf8').split('\n').length - 1;
    expect(said.split('\n').at(-2)).toBe(
      `kcovbox: interrupted behind ${1024 * epochs} executions; ` +
        'kcovbox fuzz run -n 100000000 interrupted goes on',
    );
    expect(readFileSync(join(cwd, 'interrupted', 'coverage.csv'), 'utf8').split('\n').length).toBeGreaterThan(
      2,
    );
  });

  // The journal is the first file of a new folder; the next ones take some tens of milliseconds.
  test('ends in order at SIGINT while it writes its folder, and goes on', async () => {
    const words = [COMMAND, 'fuzz', 'run', '-n', '1024', '-j', '1', 'begun'];
    const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'close');
    const journal = join(cwd, 'begun', 'epochs.jsonl');
    while (!existsSync(journal)) await new Promise(r => setImmediate(r));
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(cli('run', '-n', '1024', '-j', '1', 'begun').status).toBe(0);
  });

  test('verify repeats it, and names the first byte that differs', () => {
    expect(cli('verify', '--sample', '100%', 'one')).toMatchObject({
      status: 0,
      stdout: '2 epochs of 2 repeated: equal\n',
      stderr: '',
    });
    cpSync(join(cwd, 'one'), join(cwd, 'other'), { recursive: true });
    const journal = join(cwd, 'other', 'epochs.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').replace(/"units":\d+(?=[^\n]*\n$)/, '"units":7'));
    const differs = cli('verify', '--sample', '100', 'other');
    expect(differs.status).toBe(1);
    expect(differs.stdout).toMatch(/^epoch 1 differs: byte \d+, ".*units.*7,.*" by the journal, now "/);
    const json = SCHEMAS['fuzz-verification'].parse(
      JSON.parse(cli('verify', '--sample', '1', '--json', 'one').stdout),
    );
    expect(json).toMatchObject({ epochs: 2, repeated: [expect.any(Number)], differs: null });
  });
});

describe('a small corpus', () => {
  /** A copy of the campaign of above with another journal. */
  function copyWith(dir: string, change: (journal: string) => string): void {
    cpSync(join(cwd, 'one'), join(cwd, dir), { recursive: true });
    const journal = join(cwd, dir, 'epochs.jsonl');
    writeFileSync(journal, change(readFileSync(journal, 'utf8')));
  }

  test('covers what the whole one covers, under the same names, with any number of workers', async () => {
    const { status, stdout, stderr } = cli('minimize', '-j', '1', 'one', '-o', 'small');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, few, all, edges] = /^kept (\d+) of (\d+) programs: the same (\d+) edges\n$/.exec(stdout)!;
    const names = readdirSync(join(cwd, 'small'));
    expect([names.length, readdirSync(join(cwd, 'one', 'corpus')).length]).toEqual([
      Number(few),
      Number(all),
    ]);
    expect(names.length).toBeLessThan(Number(all));
    // Edges as the executions show them, counted here: of each call, and of deferred work.
    const target = await fuzzTarget();
    const covers = (name: string): string[] => {
      const { calls, deferred } = target.execute(
        target.descriptions.program(readFileSync(join(cwd, 'one', 'corpus', name), 'utf8')),
      );
      return [...calls.map(({ pcs }) => pcs), deferred].flatMap(pcs =>
        [...pcs].map((pc, n) => `${pcs[n - 1] ?? ''} ${pc}`),
      );
    };
    expect(new Set(names.flatMap(covers)).size).toBe(Number(edges));
    for (const name of names)
      expect(readFileSync(join(cwd, 'small', name), 'utf8')).toBe(
        readFileSync(join(cwd, 'one', 'corpus', name), 'utf8'),
      );
    cli('minimize', '-j', '3', '--engine', 'interp', 'one', '-o', 'same');
    expect(contents('same')).toEqual(contents('small'));
  });

  test('is refused where it cannot be had', () => {
    expect(cli('minimize', 'one', '-o', 'small')).toMatchObject({
      status: 125,
      stderr: 'kcovbox: fuzz minimize: small is not empty; give a new folder with -o\n',
    });
    copyWith('empty', () => '');
    expect(cli('minimize', 'empty', '-o', 'none')).toMatchObject({
      status: 125,
      stderr: 'kcovbox: fuzz minimize empty: the campaign has no programs yet\n',
    });
    copyWith('lies', journal => journal.replace(/"covered":\d+/, '"covered":7'));
    const lies = cli('minimize', 'lies', '-o', 'none');
    expect(lies.status).not.toBe(0);
    expect(withoutProgress(lies.stderr)).toMatch(
      /^kcovbox: epochs\.jsonl:1: the corpus covers \d+ elements, and 7 by the journal\n$/,
    );
    expect(existsSync(join(cwd, 'none'))).toBe(false);
    cli('minimize', 'lies', '-o', 'none/such/folder');
    expect(existsSync(join(cwd, 'none'))).toBe(false);
    expect(cli('minimize', 'one', '-o', 'one/crashes')).toMatchObject({
      status: 125,
      stderr: 'kcovbox: fuzz minimize: one/crashes is in the campaign one; give another folder with -o\n',
    });
    expect(existsSync(join(cwd, 'one', 'crashes'))).toBe(false);
  });
});

describe('historical bugs', () => {
  const N = '4096';
  beforeAll(() => {
    cli('run', '--conf', 'linux+kasan+ubsan+bugs', '--append', 'bugs=all', '-n', N, '-j', '2', 'bugs');
  });
  const found = (dir: string): string[] => readdirSync(join(cwd, dir, 'bugs')).sort();

  test('are triggered, and the summary says when', () => {
    const { status, stdout } = cli('run', '-n', N, 'bugs');
    expect(status).toBeLessThanOrEqual(1);
    const triggered = Number(/^of 37 historical bugs: \d+ reached, (\d+) triggered$/m.exec(stdout)?.[1]);
    expect(triggered).toBeGreaterThanOrEqual(5);
    expect(found('bugs')).toHaveLength(triggered);
    for (const bug of found('bugs')) expect(stdout).toMatch(new RegExp(`^  at execution \\d+: ${bug}$`, 'm'));
  });

  test('each find is triggered by its C program alone, and has a capsule', () => {
    const { stdout } = cli('repro', 'bugs');
    for (const bug of found('bugs')) {
      expect(stdout).toMatch(new RegExp(`^same {2}${bug}$`, 'm'));
      expect(existsSync(join(cwd, 'bugs', 'bugs', bug, 'repro.kcapsule'))).toBe(true);
    }
  });

  test('a program that triggers a bug has reached it', () => {
    const { status, stdout } = kcovbox(['bugs', 'score', '--json', 'bugs'], { cwd });
    expect(status).toBe(0);
    const { bugs } = SCHEMAS['bug-score'].parse(JSON.parse(stdout));
    expect(bugs.filter(bug => bug.triggered.some(program => !bug.reached.includes(program)))).toEqual([]);
  });

  test('bugs score reads the campaign, and agrees with it', () => {
    const { status, stdout } = kcovbox(['bugs', 'score', 'bugs'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^of 37 bugs: \\d+ reached, ${found('bugs').length} triggered, `, 'm'));
    for (const bug of found('bugs'))
      expect(stdout).toMatch(
        new RegExp(`^${bug} .*bugs/bugs/${bug}/program.txt|^${bug} +\\w+ +\\d+ +\\d+ `, 'm'),
      );
  });
});

test('a race is found with an order of its threads; an order for its C program is a capsule', () => {
  const calls = ['socketpair', 'recvm*', 'close'].flatMap(name => ['--call', name]);
  const how = ['--conf', 'linux+kasan+ubsan+bugs', '--append', 'bugs=recvmsg_early_put', '--schedule', 'pos'];
  const { stdout } = cli('run', ...how, ...calls, '-n', '1024', '-j', '2', 'races');
  expect(stdout).toMatch(/^ {2}at execution \d+: recvmsg_early_put$/m);
  const folder = join('races', 'bugs', 'recvmsg_early_put');
  const program = readFileSync(join(cwd, folder, 'program.txt'), 'utf8');
  expect(program).toMatch(/^!schedule pos 0x[0-9a-f]+[\s\S]* !thread=2\n/);
  expect(cli('repro', 'races')).toMatchObject({ status: 0, stdout: 'same  recvmsg_early_put\n' });
  const replay = kcovbox(['replay', join(folder, 'repro.kcapsule')], { cwd });
  expect(replay.stderr).toMatch(/^kcovbox: the same run: /);
});

test('bugs score refuses a campaign whose kernel has none', () => {
  const ran = kcovbox(['bugs', 'score', 'one'], { cwd });
  expect(ran.status).toBe(125);
  expect(ran.stderr).toSatisfy(isOneLine);
  expect(ran.stderr).toContain(
    'one: the kernel of this campaign has no bugs; begin one with --conf NAME+bugs',
  );
});

test('a bench says that executions are stable', () => {
  const { status, stdout } = cli('bench', '--rounds', '1');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^stability: 100 % of 128 programs; RAM and devices hashed at every 1,024th of/m);
  expect(stdout).toMatch(/^\| both \|/m);
  const json = cli('bench', '--rounds', '1', '--json');
  expect(json).toMatchObject({ status: 0, stderr: '' });
  const { unstable, rows } = SCHEMAS['fuzz-bench'].parse(JSON.parse(json.stdout));
  expect(unstable).toBe(null);
  expect(rows.map(({ what }) => what)).toEqual(['points', 'comparisons', 'both']);
});

test('a program is executed call by call, with the functions that each entered', () => {
  writeFileSync(
    join(cwd, 'p.txt'),
    'pipe2(&{>r0, >r1}, 0x0)\nwrite(r1, &"abc", 0x3)\nread(r0, &out[8], 0x8)\n',
  );
  const { status, stdout } = cli('exec', '--functions', 'p.txt');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^pipe2: 0x0, \d+ points\n {2}.*\bpipe_new\b|sys_pipe2/m);
  expect(stdout).toMatch(/^write: 0x3, \d+ points\n {2}.*\bpipe_write\b/m);
  expect(stdout).toMatch(/^read: 0x3, \d+ points\n {2}.*\bpipe_read\b/m);
  expect(stdout).toMatch(/^done, [\d,]+ instructions$/m);
  const c = cli('exec', '-c', 'p.txt');
  writeFileSync(join(cwd, 'p.c'), c.stdout);
  expect(kcovbox(['run', '--dialect', 'linux', 'p.c'], { cwd })).toMatchObject({ status: 0 });
});

test('a wrong line is one line', () => {
  writeFileSync(join(cwd, 'wrong.kd'), 'call nothing()\n');
  writeFileSync(join(cwd, 'bytes.kd'), Buffer.from('strings s = "\xff"\n', 'latin1'));
  writeFileSync(join(cwd, 'wrong.txt'), 'close(0x1\n');
  writeFileSync(join(cwd, 'order.txt'), '!schedule pct:99 0x1\nclose(0x1) !thread=2\n');
  writeFileSync(join(cwd, 'second.txt'), 'close(0x1) !thread=2\n');
  const wrong: readonly [string[], RegExp][] = [
    [['run', '-n', '0', 'x'], /-n, --executions/],
    [['run', '.'], /fuzz: \. is not empty; give a new folder/],
    [
      ['run', '--seed', '6', 'one'],
      /fuzz run one: the campaign has begun, and --seed belongs to it; omit all options but --executions/,
    ],
    [['run', '--hung-task', '9', 'one'], /the campaign has begun, and --hung-task belongs to it/],
    [['run', '--kernel-source', '.', 'one'], /the campaign has begun, and --kernel-source belongs to it/],
    [['run', '--no-comparisons', 'one'], /the campaign has begun, and --no-comparisons belongs to it/],
    [['run', '--describe', 'bytes.kd', 'y'], /description bytes\.kd has bytes that are not UTF-8; save it/],
    [['exec', 'bytes.kd'], /program bytes\.kd has bytes that are not UTF-8; save it as UTF-8/],
    [['run', '--describe', 'wrong.kd', 'y'], /wrong\.kd:1: the kernel has no system call "nothing"/],
    [['run', '--conf', 'openbsd', 'y'], /--conf openbsd: the fuzzer needs a kernel with kcov of Linux, such/],
    [['run', '--call', '', 'y'], /--call <pattern>.*expected the name of a call, in which \* stands for any/],
    [
      ['run', '--call', '[', 'y'],
      /--call <pattern>.*expected the name of a call, in which \* stands for any/,
    ],
    [
      ['run', '--append', 'bugs=all', 'y'],
      /--append bugs=all: the kernel linux has no bugs; give --conf linux\+b/,
    ],
    [['run', '--conf', 'linux+bugs', '--append', 'bugs=nosuch', 'y'], /there is no bug named "nosuch"/],
    [
      ['run', '--append', 'init=/x', 'y/of/new'],
      /in the guest did not begin \(exit\); .*: init: cannot execute \/x: error 2/,
    ],
    [['verify', '.'], /fuzz: \. has no campaign\.json: it is not a campaign/],
    [['run', '--schedule', 'pct:17', 'y'], /--schedule <order>.*expected turns, rw, rp, pos or pct:DEPTH/],
    [['run', '-j', '0', 'y'], /--jobs <n>.*expected 1 to 256/],
    [
      ['exec', '--runs', '9', 'one/corpus/000001.txt'],
      /the program has one thread, so all its runs are equal/,
    ],
    [['exec', 'order.txt'], /order\.txt:1: expected an order and a seed, such as "!schedule rw 0x5"/],
    [['exec', 'second.txt'], /second\.txt: calls of a second thread \(!thread=2\) and a line !schedule go/],
    [['exec', 'wrong.txt'], /wrong\.txt:1: "\)" was expected at the end of the line/],
    [['exec', 'none.txt'], /program none\.txt: no such file/],
  ];
  const all = kcovboxLines(
    wrong.map(([words]) => ['fuzz', ...words]),
    { cwd },
  );
  for (const [i, [words, reason]] of wrong.entries()) {
    const one = all[i]!;
    const ran = { ...one, stderr: one.stderr.replace(BUILDING, '') };
    expect([ran.status, ran.stdout], words.join(' ')).toEqual([125, '']);
    expect(ran.stderr).toSatisfy(isOneLine);
    expect(ran.stderr).toMatch(reason);
  }
  expect(existsSync(join(cwd, 'y'))).toBe(false);
});
