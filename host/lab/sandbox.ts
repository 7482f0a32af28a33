// Grading in a sandbox of the system: bubblewrap shows a process the tools, the package and the
// folders that it is given, and neither a network nor anything else of the machine (ADR 0015).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { cacheDir, findTool, makeFolders, packageRoot, which } from '../../toolchain/index.ts';

/** Set in the process inside. */
const INSIDE = 'KCOVBOX_SANDBOX';

export const isSandboxed = (): boolean => process.env[INSIDE] === 'bwrap';

/** Of the system: what compilers and Node.js need. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc/alternatives', '/etc/ld.so.cache'];

export interface Visible {
  /** Paths that may be read. */
  readonly reads: readonly string[];
  /** Folders that may be written, each with its name inside. */
  readonly writes: readonly (readonly [folder: string, name: string])[];
  /** Nothing that is built inside may be used later: code of strangers runs there, not emulated. */
  readonly ownCache: boolean;
}

const bind = (option: string, path: string): string[] => [option, path, path];

function optionsFor({ reads, writes }: Visible, cache: string): string[] {
  const readable = [dirname(realpathSync(process.execPath)), ...toolFolders(), ...reads];
  return [
    ...['--unshare-all', '--die-with-parent', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...SYSTEM.filter(existsSync).flatMap(path => bind('--ro-bind', path)),
    ...bind('--ro-bind', packageRoot()),
    ...['--bind', cache, cacheDir()], // of a checkout it lies in the package, and may hold Node.js
    ...readable.map(path => resolve(path)).flatMap(path => bind('--ro-bind', path)),
    ...writes.flatMap(([folder, name]) => ['--bind', resolve(folder), resolve(name)]),
    ...['--chdir', process.cwd()],
  ];
}

/** Beside the folder of a program: its libraries, and a compiler's own headers. */
const BESIDE = ['lib', 'lib64', 'libexec'];

/** Each path on the way from `path` to the file behind its links. */
function* stepsOf(path: string): Generator<string> {
  let step = path;
  for (let links = 0; links < 40 && lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    yield step;
    step = resolve(realpathSync(dirname(step)), readlinkSync(step));
  }
  yield step;
  yield realpathSync(path);
}

const isOfSystem = (path: string): boolean => SYSTEM.some(dir => path === dir || path.startsWith(`${dir}/`));

/** Folders of tools outside of the system's, such as those that KCOVBOX_CLANG names. */
function toolFolders(): string[] {
  const tools = (['clang', 'ld', 'nm', 'make'] as const).flatMap(tool => findTool(tool) ?? []);
  const folders = tools.flatMap(tool => [...stepsOf(tool)]).map(dirname);
  const outside = [...new Set(folders)].filter(folder => !isOfSystem(folder));
  return outside.flatMap(folder => [
    folder,
    ...BESIDE.map(name => join(dirname(folder), name)).filter(path => existsSync(path) && !isOfSystem(path)),
  ]);
}

/** Folder that is there inside too, so that relative paths mean the same. */
const HERE = (): string[] => ['--dir', process.cwd()];

/**
 * Variables that the command itself reads; the others may hold secrets. Inside there is no home
 * folder, so the place of the cache is given.
 */
const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(?:PATH|TERM|LANG|NO_COLOR|KCOVBOX_\w+)$/.test(name)),
  ),
  KCOVBOX_CACHE: cacheDir(),
});

/** Does bubblewrap work here? */
export const canSandbox = (): boolean => {
  const bwrap = which('bwrap');
  const options = ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '/bin/true'];
  return bwrap !== undefined && spawnSync(bwrap, options, { stdio: 'ignore' }).status === 0;
};

/**
 * Runs this command again inside; its exit status. Undefined: the system has no bubblewrap, or
 * does not let it work (as in many containers). `stop` ends all that runs inside: with bubblewrap
 * the first process of the sandbox dies, and with that one every other. When the promise is
 * settled, nothing writes any more.
 */
export async function runSandboxed(
  words: readonly string[],
  visible: Visible,
  stop: AbortSignal,
): Promise<number | undefined> {
  const bwrap = which('bwrap');
  if (bwrap === undefined) return undefined;
  makeFolders(cacheDir());
  const cache = visible.ownCache ? mkdtempSync(join(tmpdir(), 'kcovbox-grade-cache-')) : cacheDir();
  try {
    const options = [...HERE(), ...optionsFor(visible, cache)];
    const env = { ...environment(), [INSIDE]: 'bwrap' };
    const works =
      spawnSync(bwrap, [...options, '--', process.execPath, '--version'], { stdio: 'ignore', env }).status ===
      0;
    if (!works) return undefined;
    const command = [process.execPath, join(packageRoot(), 'bin', 'kcovbox.cjs'), ...words];
    return await statusOf(bwrap, [...options, '--', ...command], env, stop);
  } finally {
    // A process that was just killed may still make a file in it.
    if (visible.ownCache) rmSync(cache, { recursive: true, force: true, maxRetries: 5 });
  }
}

function statusOf(
  bwrap: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    // The pipe carries nothing. The command inside has it too, so that its end is the end of both:
    // bubblewrap itself is gone before what runs inside is.
    const child = spawn(bwrap, words, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'], env });
    (child.stdio[3] as Readable).resume();
    const kill = (): void => void child.kill('SIGKILL');
    if (stop.aborted) kill();
    stop.addEventListener('abort', kill);
    process.once('exit', kill);
    child.on('error', reject);
    child.on('close', status => {
      stop.removeEventListener('abort', kill);
      process.off('exit', kill);
      resolve(status ?? 125);
    });
  });
}
