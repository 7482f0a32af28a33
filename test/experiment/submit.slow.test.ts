// `kcovbox experiment submit parallel` and `snakemake` with the real programs, and the Job of
// Kubernetes with this test as its kubelet. A shard is killed in the middle of each; the bytes are
// those of a local run.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sha256 } from '../../toolchain/index.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';
import { findProgram } from '../support/tools.ts';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'kcovbox-engines-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const ENGINES = ['parallel', 'snakemake', 'kubernetes'] as const;

function missing(name: string): boolean {
  if (findProgram(name)) return false;
  if (process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore' });
  if (findProgram(name)) return false;
  console.warn(`skipped: the package ${name} cannot be installed`);
  return true;
}

/** Has braces, quotes and blanks, as no path should. */
const folderOf = (name: string): string => `${name} of {.} "o'clock"`;

beforeAll(() => {
  const source = join(ROOT, 'examples', 'lost.c');
  writeFileSync(
    join(cwd, 'lost.yaml'),
    `name: lost\nprogram: { source: ${source}, harts: 2, memory: 32 }\nvariants: { o1: {}, o0: { cflags: [-O0] } }\n` +
      'trials: 6\nbudget: { executions: 4 }\nbugs: { lost: { status: 1 } }\n',
  );
  for (const name of ENGINES)
    expect(kcovbox(['experiment', 'plan', '--dir', folderOf(name), 'lost.yaml'], { cwd }).status).toBe(0);
  expect(kcovbox(['experiment', 'run', '-j', '2', '--dir', 'local', 'lost.yaml'], { cwd }).status).toBe(0);
  expect(kcovbox(['experiment', 'report', 'local'], { cwd }).status).toBe(0);
});

const filesOf = (folder: string, apart?: string): [string, string][] =>
  readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))])
    .filter(([path]) => apart === undefined || !path.startsWith(`/${apart}/`))
    .sort();

/** Processes whose environment or command line has the text. */
const processesWith = (file: 'environ' | 'cmdline', ...texts: string[]): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(name => {
      try {
        const content = readFileSync(join('/proc', name, file), 'utf8');
        return texts.every(text => content.includes(text));
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);

function kill(pids: readonly number[]): number {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // it has ended
  return pids.length;
}

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

const trialsIn = (name: string): number =>
  ['o0', 'o1']
    .flatMap(variant => [0, 1, 2, 3, 4, 5].map(i => join(cwd, folderOf(name), 'trials', variant, `000${i}`)))
    .filter(path => existsSync(join(path, 'trial.json'))).length;

interface Submitted {
  readonly child: ChildProcess;
  readonly ended: Promise<{ status: number | null; stdout: string; stderr: string }>;
}

function submit(...words: string[]): Submitted {
  const child = spawn(process.execPath, [COMMAND, 'experiment', 'submit', ...words], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', chunk => (stdout += chunk));
  child.stderr.on('data', chunk => (stderr += chunk));
  const ended = new Promise<{ status: number | null; stdout: string; stderr: string }>(resolve =>
    child.on('close', status => resolve({ status, stdout, stderr })),
  );
  return { child, ended };
}

/** The shards that run now, of the folder of `name`. */
const shardsOf = (name: string): number[] => processesWith('cmdline', '\0shard\0', `${folderOf(name)}\0--of`);

/** Waits until some trial is finished and a shard is at work, and kills that. */
async function killOneShard(name: string): Promise<void> {
  while (trialsIn(name) < 2 || shardsOf(name).length === 0) await wait(20);
  expect(kill(shardsOf(name).slice(0, 1))).toBe(1);
}

/** A host of GNU parallel that needs no ssh: `host.sh NAME -- WORDS` are words of a shell here. */
const HOST = `#!/bin/sh
host=$1
shift 2
[ -e "${cwd}/$host.down" ] && exit 255
ON_HOST=$host exec sh -c "$*"
`;

test.skipIf(missing('parallel'))('GNU parallel on two hosts, one of which is lost', async () => {
  writeFileSync(join(cwd, 'host.sh'), HOST);
  chmodSync(join(cwd, 'host.sh'), 0o755);
  const hosts = ['--option=--sshlogin=1/n1,1/n2', `--option=--ssh=${join(cwd, 'host.sh')}`];
  const { ended } = submit('parallel', '--tasks', '5', ...hosts, folderOf('parallel'));
  const onHost = (): number[] => processesWith('environ', 'ON_HOST=n2\0', cwd);
  while (trialsIn('parallel') < 2 || shardsOf('parallel').length === 0) await wait(20);
  writeFileSync(join(cwd, 'n2.down'), '');
  expect(kill(onHost())).toBeGreaterThan(0);
  const { status, stdout, stderr } = await ended;
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^12 trials of plan .*\no1: 6 of 6 trials, /s);
  const log = readFileSync(join(cwd, folderOf('parallel'), 'parallel', 'joblog'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  console.info(log.map(line => line.split('\t').slice(0, 8).join(' ')).join('\n'));
  expect(filesOf(folderOf('parallel'), 'parallel')).toEqual(filesOf('local'));
});

test.skipIf(missing('parallel'))('GNU parallel ends its shards at SIGTERM; another one goes on', async () => {
  const folder = join(cwd, folderOf('parallel'));
  for (const variant of ['o0', 'o1']) rmSync(join(folder, 'trials', variant), { recursive: true });
  const { child, ended } = submit('parallel', '--tasks', '2', folderOf('parallel'));
  while (trialsIn('parallel') < 1) await wait(20);
  child.kill('SIGTERM');
  expect((await ended).status).toBe(143);
  expect(shardsOf('parallel')).toEqual([]);
  expect(trialsIn('parallel')).toBeLessThan(12);
  const again = submit('parallel', '--tasks', '2', folderOf('parallel'));
  expect(await again.ended).toMatchObject({ status: 0 });
  expect(filesOf(folderOf('parallel'), 'parallel')).toEqual(filesOf('local'));
  const wrong = submit('parallel', '--tasks', '2', '--option=--bogus', '--dir', 'wrong', 'lost.yaml');
  expect(await wrong.ended).toMatchObject({
    status: 125,
    stdout: '',
    stderr: expect.stringMatching(/bogus.*kcovbox: GNU parallel ended with status 255\n$/s),
  });
});

test.skipIf(missing('snakemake'))('Snakemake, and a shard that is killed', async () => {
  const { ended } = submit('snakemake', '--tasks', '5', '--limit', '2', folderOf('snakemake'));
  await killOneShard('snakemake');
  const { status, stdout, stderr } = await ended;
  expect(status, stderr).toBe(0);
  expect(stdout).toBe(`report in ${join(folderOf('snakemake'), 'report.html')}\n`);
  expect(stderr).toMatch(/Trying to restart job/);
  expect(filesOf(folderOf('snakemake'), 'snakemake')).toEqual(filesOf('local'));

  const folder = join(cwd, folderOf('snakemake'));
  rmSync(join(folder, 'trials', 'o1'), { recursive: true });
  const interrupted = submit('snakemake', '--tasks', '5', '--limit', '2', folderOf('snakemake'));
  while (shardsOf('snakemake').length === 0) await wait(20);
  interrupted.child.kill('SIGINT');
  expect((await interrupted.ended).status).toBe(130);
  expect(shardsOf('snakemake')).toEqual([]);
  const again = submit('snakemake', '--tasks', '2', folderOf('snakemake'));
  expect(await again.ended).toMatchObject({ status: 0 });
  expect(filesOf(folderOf('snakemake'), 'snakemake')).toEqual(filesOf('local'));
});

/** A stranger's kubectl, which keeps its words. */
const KUBECTL = `#!/bin/sh
printf '%s\\n' "$@" > "${cwd}/kubectl.words"
echo "job.batch/lost $(cat "${cwd}/kubectl.answer")"
`;

test('the pods of a Job of Kubernetes, one of which is killed', async () => {
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'kubectl'), KUBECTL, { mode: 0o755 });
  const folder = folderOf('kubernetes');
  // The volume is where the folder is.
  const volume = ['--mount', cwd, '--kcovbox', `${process.execPath} ${COMMAND}`];
  const words = ['submit', 'kubernetes', '--claim', 'claim', '--tasks', '5', ...volume, folder];
  const apply = (answer: string) => {
    writeFileSync(join(cwd, 'kubectl.answer'), answer);
    return kcovbox(['experiment', ...words], { cwd, env: { PATH: `${bin}:${process.env['PATH']}` } });
  };
  expect(apply('created')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^job lost-[0-9a-f]{8}-5 of 5 tasks, described in .*job\.yaml\n$/),
  });
  expect(readFileSync(join(cwd, 'kubectl.words'), 'utf8')).toMatch(/^apply\n-f\n/);
  expect(apply('unchanged')).toMatchObject({
    status: 125,
    stderr: expect.stringMatching(
      /^kcovbox: job lost-\S+ is there already; kubectl delete job lost-\S+ removes it/,
    ),
  });

  const file = join(cwd, folder, 'kubernetes', 'job.yaml');
  const { spec } = parse(readFileSync(file, 'utf8'), { version: '1.1' });
  const [program, ...more] = spec.template.spec.containers[0].command as string[];
  const pod = (index: number): Promise<number | null> => {
    const env = { ...process.env, JOB_COMPLETION_INDEX: String(index) };
    const child = spawn(program!, more, { env, stdio: 'ignore' });
    return new Promise(resolve => child.on('close', resolve));
  };
  const first = [0, 1].map(pod);
  await killOneShard('kubernetes');
  expect((await Promise.all(first)).sort()).toEqual([0, null]);
  const indices = Array.from({ length: spec.completions as number }, (_, index) => index);
  for (const index of indices) expect(await pod(index)).toBe(0); // those that ended do nothing
  expect(kcovbox(['experiment', 'report', folder], { cwd }).status).toBe(0);
  expect(filesOf(folder, 'kubernetes')).toEqual(filesOf('local'));
});
