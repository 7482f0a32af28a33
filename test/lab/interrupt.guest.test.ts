// `kcovbox grade` that a signal ends: no results that could be taken for those of the whole class,
// and no process. The signal goes to the parent alone, as `kill` sends it; a terminal sends it to
// all of them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLab } from '../../host/lab/lab.ts';
import { canSandbox } from '../../host/lab/sandbox.ts';
import { startLab } from '../../host/lab/workspace.ts';
import { COMMAND, kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { withoutProgress, writeAttacks } from './attacks.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-interrupt-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const folder = join(dir, 'class');
beforeAll(() => {
  const starter = join(openLab('0').folder, 'starter');
  for (let i = 0; i < 24; i++) cpSync(starter, join(folder, `s${i}`), { recursive: true });
  for (let i = 0; i < 2; i++) cpSync(starter, join(dir, 'few', `s${i}`), { recursive: true });
});

/** A file of /proc; empty when the process has gone. */
function ofProcess(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'latin1');
  } catch {
    return '';
  }
}

/** The processes with this variable, which all that a command starts have from it. */
const withVariable = (variable: string): string[] =>
  readdirSync('/proc').filter(
    pid => /^\d+$/.test(pid) && ofProcess(pid, 'environ').split('\0').includes(variable),
  );

/** Processor seconds of a process. */
function secondsOf(pid: string): number {
  const fields = ofProcess(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const STATUS = { SIGINT: 130, SIGTERM: 143 } as const;
let count = 0;

/** Folders in which results are written before they take the name `graded`. */
const unfinished = (graded: string): string[] =>
  readdirSync(dir)
    .filter(name => name.startsWith(`${basename(graded)}.`))
    .map(name => join(dir, name));

/** Sends the signal when `isReady`, and checks what is left. */
async function interrupt(
  signal: keyof typeof STATUS,
  words: readonly string[],
  isReady: (graded: string, variable: string) => boolean,
): Promise<void> {
  const value = `${dir}-${++count}`;
  const graded = join(dir, `graded-${count}`);
  const env = { ...process.env, KCOVBOX_TEST_MARK: value };
  const variable = `KCOVBOX_TEST_MARK=${value}`;
  const child = spawn(process.execPath, [COMMAND, 'grade', ...words, '-o', graded], { stdio: 'ignore', env });
  const ended = once(child, 'exit');
  while (!isReady(graded, variable) && child.exitCode === null)
    await new Promise(done => setTimeout(done, 10));
  expect(child.exitCode).toBe(null);
  child.kill(signal);
  const [status] = await ended;
  const left = withVariable(variable).map(pid => ofProcess(pid, 'cmdline'));
  expect({ status, isThere: existsSync(graded), left, unfinished: unfinished(graded) }).toEqual({
    status: STATUS[signal],
    isThere: false,
    left: [],
    unfinished: [],
  });
}

const hasSome = (graded: string): boolean =>
  unfinished(graded).some(folder => existsSync(folder) && readdirSync(folder).length > 0);

test.each(['SIGINT', 'SIGTERM'] as const)('%s, without a sandbox', signal =>
  interrupt(signal, [folder, '--lab', '0', '--unsafe'], hasSome),
);

test.skipIf(missing('bubblewrap that works', canSandbox() || undefined)).each(['SIGINT', 'SIGTERM'] as const)(
  '%s, in the sandbox',
  signal => interrupt(signal, [folder, '--lab', '0'], hasSome),
);

test('SIGTERM, while a device loops in a process of its own', async () => {
  const loops = join(dir, 'loops');
  await writeAttacks(openLab('10'), loops);
  for (const name of readdirSync(loops))
    if (name !== 'device-loops') rmSync(join(loops, name), { recursive: true });
  const isJudging = (_: string, variable: string): boolean =>
    withVariable(variable).some(
      pid => ofProcess(pid, 'environ').includes('KCOVBOX_GRADE_ALONE=1') && secondsOf(pid) > 4,
    );
  await interrupt('SIGTERM', [loops, '--lab', '10', '--unsafe'], isJudging);
});

/**
 * Waits until these processes use no processor time, and none but they and their command is left:
 * workers whose command is stopped have posted their answers then, and wait for tasks.
 */
async function idle(pids: readonly string[], variable: string): Promise<void> {
  const used = (): string => pids.map(secondsOf).join();
  for (let before = ''; before !== used() || withVariable(variable).length > pids.length + 1; ) {
    before = used();
    await new Promise(done => setTimeout(done, 500));
  }
}

// A command that was stopped reads the last answer of a process before it hears of its end, and
// gives it a task. Without capsules an answer is small, so that no process waits until it is read.
test.each([
  ['that works', []],
  ['whose answer waits', ['--no-capsules']],
])('a process %s is killed: the command names the submission', async (which, options) => {
  const name = `worker-${options.length}`;
  const variable = `KCOVBOX_TEST_MARK=${dir}-${name}`;
  const env = { ...process.env, KCOVBOX_TEST_MARK: `${dir}-${name}` };
  const graded = join(dir, `graded-${name}`);
  const words = [COMMAND, 'grade', folder, '--lab', '0', '-o', graded, '--unsafe', '-j', '2', ...options];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr.on('data', text => (said += text));
  const closed = once(child, 'close');
  const workers = (): string[] =>
    withVariable(variable).filter(pid => ofProcess(pid, 'environ').includes('KCOVBOX_GRADE_WORKER=1'));
  const waits = which === 'whose answer waits';
  const hasBegun = () => workers().filter(pid => secondsOf(pid) > 0.4).length === 2;
  const isReady = () => (waits ? hasBegun() : hasSome(graded));
  while (!isReady() && child.exitCode === null) await new Promise(done => setTimeout(done, 10));
  if (waits) {
    child.kill('SIGSTOP');
    await idle(workers(), variable);
  }
  const victim = workers()[0]!;
  process.kill(Number(victim), 'SIGKILL');
  if (waits) {
    // A zombie has closed its files.
    while (!ofProcess(victim, 'stat').includes(') Z ')) await new Promise(done => setTimeout(done, 10));
    child.kill('SIGCONT');
  }
  const [status] = await closed;
  expect(withoutProgress(said)).toMatch(/^kcovbox: grade: the process that judged s\d+ ended: SIGKILL\n$/);
  const left = { isThere: existsSync(graded), workers: workers(), unfinished: unfinished(graded) };
  expect({ status, ...left }).toEqual({ status: 125, isThere: false, workers: [], unfinished: [] });
});

// Which limit leaves no files for a worker depends on the version of Node.js.
test('a process that cannot be started ends the command with its reason', () => {
  const words = [COMMAND, 'grade', join(dir, 'few'), '--lab', '0', '--unsafe', '-j', '2'];
  const said: string[] = [];
  kcovbox(['--version'], { cwd: dir }); // which is built if that is needed
  for (let limit = 14; limit < 60; limit++) {
    const script = `ulimit -n ${limit}; exec "$0" "$@"`;
    const options = { encoding: 'utf8', timeout: 60_000 } as const;
    const { status, signal, stderr } = spawnSync('sh', ['-c', script, process.execPath, ...words], options);
    expect({ limit, signal }).not.toEqual({ limit, signal: 'SIGTERM' }); // it hangs
    if (status === 0) break;
    said.push(withoutProgress(stderr));
  }
  expect(said.filter(text => text.includes('internal error'))).toEqual([]);
  expect(said.join('')).toMatch(/^kcovbox: grade: a process cannot be started: .*EMFILE; with -j 1 /m);
});

// No command hears of SIGKILL: the folder of results is empty, and the next command finds it so.
test.each([
  ['without a sandbox', ['--unsafe']],
  ['in the sandbox, where there is one', []],
] as const)(
  'SIGKILL leaves no half of the results, and the next run removes the rest, %s',
  async (_, options) => {
    const graded = join(dir, `killed-${options.length}`);
    const grade = (name: string) => ['grade', join(dir, name), '--lab', '0', '-o', graded, ...options];
    const child = spawn(process.execPath, [COMMAND, ...grade('class')], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (!hasSome(graded) && child.exitCode === null) await new Promise(done => setTimeout(done, 10));
    expect(child.exitCode).toBe(null);
    child.kill('SIGKILL');
    await ended;
    expect(readdirSync(graded)).toEqual([]);
    expect(unfinished(graded)).toHaveLength(1);
    const { status, stderr } = kcovbox(grade('few'), { cwd: dir, timeout: 170_000 });
    expect({ status, stderr: withoutProgress(stderr) }).toEqual({ status: 0, stderr: '' });
    expect(unfinished(graded)).toEqual([]);
    expect(readdirSync(graded)).toEqual(expect.arrayContaining(['class.html', 'junit.xml', 's0', 's1']));
  },
);

// A lab that is a part of the kernel is built in a tree of its own, among the temporary files.
describe.each([
  ['grade', ['grade', 'parts', '--lab', '2', '-o', 'graded-parts', '--unsafe'], 143],
  ['lab test', ['lab', 'test', 'parts/s0'], null],
] as const)('SIGTERM while %s builds a kernel leaves no temporary folder', (_, words, status) => {
  test.each([
    ['it makes the tree', 0],
    ['a compiler runs', 300],
  ])('when %s', async (__, delay) => {
    const temporary = join(dir, `temporary-${words[0]}-${delay}`);
    mkdirSync(temporary);
    startLab(openLab('2'), join(dir, 'parts', 's0'));
    const env = { ...process.env, TMPDIR: temporary, KCOVBOX_CACHE: join(temporary, 'cache') };
    const child = spawn(process.execPath, [COMMAND, ...words], { cwd: dir, stdio: 'ignore', env });
    const ended = once(child, 'exit');
    const folders = (): string[] => readdirSync(temporary).filter(name => name.startsWith('kcovbox-kernel'));
    while (folders().length === 0 && child.exitCode === null) await new Promise(done => setTimeout(done, 1));
    await new Promise(done => setTimeout(done, delay));
    expect(child.exitCode).toBe(null);
    child.kill('SIGTERM');
    expect(await ended).toEqual([status, status === null ? 'SIGTERM' : null]);
    expect(readdirSync(temporary).filter(name => name.startsWith('kcovbox-'))).toEqual([]);
    rmSync(join(dir, 'parts'), { recursive: true });
  });
});
