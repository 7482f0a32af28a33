// `kcovbox experiment submit redis` and `work` with a real server, which is restarted in the
// middle, and workers that are killed. The folder has the bytes of a local run.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../toolchain/index.ts';
import { COMMAND, isOneLine, kcovbox, type Ran, ROOT } from '../support/command.ts';
import { findProgram } from '../support/tools.ts';

const PASSWORD = "p@ss:w'ord/";
const TRIALS = 6;

function missing(): boolean {
  const has = (): boolean => findProgram('redis-server') !== undefined;
  if (!has() && process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], { stdio: 'ignore' });
  if (has()) return false;
  console.warn('skipped: the package redis-server cannot be installed');
  return true;
}
const isMissing = missing();

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-redis-'));
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) kill(child);
  rmSync(cwd, { recursive: true, force: true });
});

/** With the processes that it started. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(-pid!, signal);
  } catch {} // it has ended
}

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.on('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

class RedisServer {
  readonly port: number;
  #child: ChildProcess | undefined;

  constructor(port: number) {
    this.port = port;
  }

  get url(): string {
    return `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.port}/3`;
  }

  start(): void {
    const dir = join(cwd, 'server');
    mkdirSync(dir, { recursive: true });
    writeFileSync(
      join(dir, 'redis.conf'),
      `bind 127.0.0.1\nport ${this.port}\ndir "${dir}"\nrequirepass "${PASSWORD}"\n` +
        'appendonly yes\nappendfsync everysec\nsave ""\n',
    );
    this.#child = spawn('redis-server', [join(dir, 'redis.conf')], { stdio: 'ignore', detached: true });
    children.add(this.#child);
  }

  async kill(): Promise<void> {
    const ended = new Promise(resolve => this.#child!.on('close', resolve));
    kill(this.#child!);
    await ended;
  }

  keys(): string {
    const words = ['-p', String(this.port), '-n', '3', '--no-auth-warning', '-a', PASSWORD, 'keys', '*'];
    return spawnSync('redis-cli', words, { encoding: 'utf8' }).stdout.trim();
  }
}

let server: RedisServer;
const cli = (...words: string[]): Ran => kcovbox(['experiment', ...words], { cwd });

interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

function startWorker(folder: string, ...words: string[]): Worker {
  const child = spawn(process.execPath, [COMMAND, 'experiment', 'work', '-j', '1', ...words, folder], {
    cwd,
    env: { ...process.env, KCOVBOX_REDIS: server.url },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', chunk => (stdout += chunk));
  child.stderr!.on('data', chunk => (stderr += chunk));
  return {
    child,
    ended: new Promise(resolve => child.on('close', status => resolve({ status, stdout, stderr }))),
  };
}

const trialsIn = (folder: string): number =>
  ['o0', 'o1']
    .flatMap(variant => Array.from({ length: TRIALS }, (_, i) => join(variant, `000${i}`, 'trial.json')))
    .filter(path => existsSync(join(cwd, folder, 'trials', path))).length;

async function untilTrials(folder: string, count: number): Promise<void> {
  while (trialsIn(folder) < count) await wait(20);
}

const filesOf = (folder: string): [string, string][] =>
  readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))])
    .sort();

/** The processes that run trials of the folder. */
const shardsOf = (folder: string): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(name => {
      try {
        return readFileSync(join('/proc', name, 'cmdline'), 'utf8').includes(`\0${folder}\0--trials\0`);
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);

describe.skipIf(isMissing)('Redis', () => {
  beforeAll(async () => {
    server = new RedisServer(await freePort());
    server.start();
    const source = join(ROOT, 'examples', 'lost.c');
    writeFileSync(
      join(cwd, 'lost.yaml'),
      `name: lost\nprogram: { source: ${source}, harts: 2, memory: 32 }\nvariants: { o1: {}, o0: { cflags: [-O0] } }\n` +
        `trials: ${TRIALS}\nbudget: { executions: 4 }\nbugs: { lost: { status: 1 } }\n`,
    );
    expect(cli('run', '-j', '2', '--dir', 'local', 'lost.yaml').status).toBe(0);
    for (const dir of ['killed', 'stopped', 'bad'])
      expect(cli('plan', '--dir', dir, 'lost.yaml').status).toBe(0);
  });

  test('a worker is killed, the server is killed and started again: the bytes of a local run', async () => {
    const { url } = server;
    const submitted = cli('submit', 'redis', '--url', url, 'killed');
    expect(submitted).toMatchObject({ status: 0, stdout: expect.stringMatching(/^12 trials of plan /) });
    // Again, as after a failure: nothing is added twice.
    expect(cli('submit', 'redis', '--url', url, 'killed').stdout).toMatch(/^12 trials of plan /);
    const first = startWorker('killed');
    const second = startWorker('killed');
    await untilTrials('killed', 2);
    kill(first.child);
    await first.ended;
    await untilTrials('killed', 4);
    await server.kill();
    await wait(2000);
    server.start();
    const { status, stdout, stderr } = await second.ended;
    expect([status, stderr.replace(/ at [\w.:]+/g, '')]).toEqual([0, expect.not.stringMatching(/\n\s+at /)]);
    console.info(`${stdout.split('\n').length - 1} of 12 trials by the second worker\n${stderr}`);
    expect(filesOf('killed')).toEqual(filesOf('local'));
    expect(server.keys()).toBe('');
  });

  test('SIGINT gives a trial back at once, a killed process repeats it', async () => {
    expect(cli('submit', 'redis', '--url', server.url, 'stopped').status).toBe(0);
    const first = startWorker('stopped');
    await untilTrials('stopped', 1);
    first.child.kill('SIGINT'); // alone, as from kill
    expect(await first.ended).toMatchObject({ status: 130, stderr: '' });
    expect(shardsOf('stopped')).toEqual([]);
    const second = startWorker('stopped');
    while (shardsOf('stopped').length === 0) await wait(20);
    await untilTrials('stopped', 3);
    for (const pid of shardsOf('stopped')) process.kill(pid, 'SIGKILL');
    const { status, stderr } = await second.ended;
    expect(status).toBe(0);
    expect(stderr).toMatch(/^kcovbox: SIGKILL ended the worker of trial o\d\/\d+; it runs again\n$/);
    expect(filesOf('stopped')).toEqual(filesOf('local'));
    expect(cli('submit', 'redis', '--url', server.url, 'stopped')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/nothing is left to do: all 12 trials are finished/),
    });
  });

  test('an empty queue, a damaged image, and a server that is gone', async () => {
    const empty = startWorker('bad');
    const ran = await empty.ended;
    expect([ran.status, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toSatisfy(isOneLine);
    expect(ran.stderr).toMatch(
      /is empty, and 12 of 12 trials are missing; kcovbox experiment submit redis bad/,
    );

    expect(cli('submit', 'redis', '--url', server.url, 'bad').status).toBe(0);
    const images = join(cwd, 'bad', 'images');
    const kept = new Map(readdirSync(images).map(name => [name, readFileSync(join(images, name))]));
    for (const name of kept.keys()) writeFileSync(join(images, name), 'x');
    const failed = await startWorker('bad').ended;
    expect([failed.status, failed.stdout]).toEqual([125, '']);
    expect(failed.stderr).toSatisfy(isOneLine);
    expect(failed.stderr).toMatch(/damaged: its SHA-256 is not its name/);
    for (const [name, bytes] of kept) writeFileSync(join(images, name), bytes);

    const worker = startWorker('bad');
    await untilTrials('bad', 1);
    await server.kill();
    let told = '';
    worker.child.stderr!.on('data', chunk => (told += chunk));
    while (!told.includes('does not answer')) await wait(50);
    const start = performance.now();
    worker.child.kill('SIGTERM');
    const gone = await worker.ended;
    expect(gone.status).toBe(143);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(gone.stderr).toMatch(/^kcovbox: redis 127\.0\.0\.1:\d+ does not answer; trying for 5 min\n$/);
    server.start();
    // Its trial is claimed for some seconds more; then it runs.
    expect(await startWorker('bad').ended).toMatchObject({ status: 0, stderr: '' });
    expect(filesOf('bad')).toEqual(filesOf('local'));
  });

  test('a server that does not let us in, is not there, or speaks something else: one line', async () => {
    const strangers: Server[] = [];
    const stranger = async (answer: string): Promise<string> => {
      const other = createServer(socket => {
        socket.on('error', () => {});
        socket.on('data', () => answer && socket.end(answer));
      }).listen(0, '127.0.0.1');
      strangers.push(other);
      await new Promise(resolve => other.on('listening', resolve));
      return `redis://127.0.0.1:${(other.address() as AddressInfo).port}`;
    };
    const at = `127.0.0.1:${server.port}`;
    const lines: readonly (readonly [url: string, message: RegExp])[] = [
      [`redis://${at}`, /^kcovbox: redis 127\S+: it wants a password in the URL$/],
      [`redis://:wrong@${at}`, /^kcovbox: redis 127\S+: WRONGPASS/],
      [server.url.replace(/3$/, '999'), /^kcovbox: redis 127\S+: ERR DB index is out of range$/],
      [`redis://127.0.0.1:${await freePort()}`, /^kcovbox: redis 127\S+: connect ECONNREFUSED /],
      [
        await stranger('HTTP/1.1 400 Bad Request\r\n\r\n'),
        /^kcovbox: redis 127\S+: it is not a Redis server$/,
      ],
      [await stranger(''), /^kcovbox: redis 127\S+: no answer in 10 seconds$/],
      [`rediss://${at}`, /^kcovbox: redis 127\S+: /],
    ];
    for (const [url, message] of lines)
      for (const words of [['submit', 'redis'], ['work']]) {
        const child = spawn(process.execPath, [COMMAND, 'experiment', ...words, '--url', url, 'local'], {
          cwd,
        });
        let stderr = '';
        child.stderr.on('data', chunk => (stderr += chunk));
        const status = await new Promise(resolve => child.on('close', resolve));
        expect([status, stderr.trimEnd()], url).toEqual([125, expect.stringMatching(message)]);
        expect(stderr).toSatisfy(isOneLine);
        expect(stderr).not.toContain('wrong');
      }
    for (const other of strangers) other.close();
  });
});
