// The engines that run a workload, and the measurement of CPU time between the lines "begin" and
// "end": user and system time of all threads of the process, from the kernel's accounting. Wall
// time would include other load.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KcovboxError } from '../emulator/index.ts';
import { makeTemporaryFolder, packageRoot, which } from '../toolchain/index.ts';
import { benchDir, buildGuest, buildNative, buildWasm } from './build.ts';
import { missingGuest, systemGuest } from './system/guest.ts';
import { isBoot } from './system/phases.ts';
import type { Workload } from './workloads.ts';

export interface Measurement {
  /** CPU seconds between the marks. */
  readonly seconds: number;
  /** The workload's check value, the same for every engine. */
  readonly check: string;
}

export interface BenchEngine {
  readonly name: string;
  /** A slow engine runs this share of the repetitions; its times are scaled up again. */
  readonly share?: number;
  /** The reason why it cannot run here or cannot run this workload; undefined if it can. */
  missing(w: Workload): string | undefined;
  command(w: Workload): Promise<readonly string[]>;
  /** Variables of its environment. */
  readonly env?: () => NodeJS.ProcessEnv;
}

const kcovbox = (engine: 'jit' | 'interp'): BenchEngine => ({
  name: `kcovbox ${engine}`,
  missing: w => w.system && missingGuest(w.system),
  command: w => boot(w, '--engine', engine, '--cold'),
});

/** The JIT in a second run: with the profile of a first one, in a cache of its own. */
function again(): BenchEngine {
  let cache: string | undefined;
  const trained = new Set<string>();
  const env = (): NodeJS.ProcessEnv => {
    cache ??= makeTemporaryFolder('kcovbox-bench-');
    return { ...process.env, KCOVBOX_CACHE: cache };
  };
  return {
    name: AGAIN,
    missing: w => (w.system ? missingGuest(w.system) : NOT_FOR_IT),
    command: async w => {
      const command = await boot(w, '--engine', 'jit');
      const key = command.join(' ');
      if (!trained.has(key)) await train(command, env());
      trained.add(key);
      return command;
    },
    env,
  };
}

/** Runs a guest, which ends by itself behind its marks. */
async function train([command, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(command!, args, { stdio: 'ignore', env });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill); // an interrupted benchmark leaves no engine running
  await once(child, 'close');
  process.off('exit', kill);
}

/** The guest in QEMU's options, which both emulators take. */
const guestOf = async (w: Workload): Promise<readonly string[]> =>
  w.system ? systemGuest(w.system) : ['-bios', 'none', '-m', '128M', '-kernel', await buildGuest(w)];

const boot = async (w: Workload, ...options: readonly string[]): Promise<readonly string[]> => [
  process.execPath,
  join(packageRoot(), 'bin', 'kcovbox.cjs'),
  ...['boot', ...options, ...(await guestOf(w))],
];

/** The JIT of a checkout of kcovbox, on the guests of this one. */
export const checkoutEngine = (path: string): BenchEngine => ({
  name: path,
  missing: w => w.system && missingGuest(w.system),
  command: async w => [
    ...[process.execPath, join(path, 'bin', 'kcovbox.cjs'), 'boot', '--engine', 'jit'],
    ...(await guestOf(w)),
  ],
});

const qemu = (name: string, more: readonly string[]): BenchEngine => ({
  name,
  missing: w =>
    which('qemu-system-riscv64')
      ? w.system && missingGuest(w.system)
      : 'qemu-system-riscv64 is not installed',
  command: async w => [
    ...['qemu-system-riscv64', '-M', 'virt', '-nographic', ...more],
    ...(await guestOf(w)),
  ],
});

/** The engine that users get, in a first run and in later ones. */
export const OURS = 'kcovbox jit';
export const AGAIN = 'kcovbox jit again';

/** The reason that needs no mention: the workload is of another kind. */
export const NOT_FOR_IT = 'not of its kind';
const portable = (w: Workload): string | undefined => (w.portable ? undefined : NOT_FOR_IT);

export const ENGINES: readonly BenchEngine[] = [
  kcovbox('jit'),
  again(),
  {
    name: 'kcovbox C hooks',
    missing: w => (w.kcov?.instrument && !w.kcov.isElided ? undefined : NOT_FOR_IT),
    command: w => boot(w, '--kcov', 'off'),
  },
  kcovbox('interp'),
  qemu('qemu', []),
  qemu('qemu -icount', ['-icount', 'shift=0,sleep=off']),
  {
    name: 'libunicorn',
    share: 0.1,
    missing: portable,
    command: async w => [process.execPath, join(benchDir(), 'unicorn-host.mjs'), await buildGuest(w)],
  },
  {
    name: 'wasm',
    missing: portable,
    command: async w => [
      ...[process.execPath, join(benchDir(), 'wasm-host.mjs'), await buildWasm(w)],
      ...[`${w.warmUp}`, `${w.repeat}`],
    ],
  },
  { name: 'native', missing: portable, command: async w => [await buildNative(w)] },
];

/**
 * CPU seconds of a living process: all its threads, those that ended included, in steps of 10 ms.
 */
function secondsOfProcess(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The part of a workload that a slow engine runs. */
export const shareOf = (w: Workload, { share = 1 }: BenchEngine): Workload =>
  share === 1
    ? w
    : { ...w, warmUp: Math.ceil(w.warmUp * share), repeat: Math.max(1, Math.ceil(w.repeat * share)) };

export interface MeasureOptions {
  /** Of wall time, for the whole process. */
  readonly limitSeconds?: number;
  /** CPU seconds of a process until now. */
  readonly cpuSeconds?: (pid: number) => number;
}

/**
 * Runs one workload once. Errors: KcovboxError when the process ended without its lines, or took
 * longer than the limit.
 */
export async function measure(
  engine: BenchEngine,
  whole: Workload,
  { limitSeconds = 300, cpuSeconds = secondsOfProcess }: MeasureOptions = {},
): Promise<Measurement> {
  const w = shareOf(whole, engine);
  const scale = whole.repeat / w.repeat;
  const [command, ...args] = await engine.command(w);
  return new Promise((resolve, reject) => {
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'], env: engine.env?.() });
    let output = '';
    // A boot is measured from the start of the process.
    let begin: number | undefined = w.system && isBoot(w.system) ? 0 : undefined;
    let result: Measurement | undefined;
    const kill = (): boolean => child.kill('SIGKILL');
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, limitSeconds * 1000);
    process.once('exit', kill); // an interrupted benchmark leaves no engine running
    child.stderr.on('data', chunk => (output += chunk));
    child.stdout.on('data', chunk => {
      output += chunk;
      if (begin === undefined && /^begin/m.test(output)) begin = cpuSeconds(child.pid!);
      const end = /^end ([0-9a-f]{16})/m.exec(output);
      if (end && begin !== undefined && !result) {
        result = { seconds: (cpuSeconds(child.pid!) - begin) * scale, check: end[1]! };
        kill();
      }
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      process.off('exit', kill);
      if (result) resolve(result);
      else {
        const within = isLate ? ` within ${limitSeconds} s` : '';
        const last = output.trim().split('\n').at(-1) || 'no output';
        reject(new KcovboxError('machine', `${engine.name} did not finish ${w.name}${within}: ${last}`));
      }
    });
  });
}
