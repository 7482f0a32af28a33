// `kcovbox bench --cold`: the time that a user waits for a small program, from the shell's fork to
// the exit status, including Node's start. QEMU runs the same kernel and program with the same RAM.
// A second table does the same for a Linux distribution's kernel, if it has been fetched. Runs
// alternate; everything is built and cached before.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allInMemory } from '../../host/guest.ts';
import {
  makeTemporaryFolder,
  packageRoot,
  removeTemporaryFolder,
  systemMessage,
  which,
  writeCpio,
} from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { shellWord } from '../io/shell-word.ts';
import { prepareGuest } from '../run/guest.ts';

const PROGRAM = join('examples', 'hello.c');
const LINUX_APPEND = 'console=ttyS0 no4lvl quiet';
const QEMU = 'qemu-system-riscv64';

export interface Sample {
  readonly wall: number;
  /** Of the process and its children; NaN without bash. */
  readonly cpu: number;
}

/**
 * Times one command, which ends with this process. `TIMEFORMAT` is bash's; its clock has
 * milliseconds.
 */
export async function time(command: readonly string[]): Promise<Sample> {
  const line = `TIMEFORMAT='%R %U %S'; time ${command.map(shellWord).join(' ')} </dev/null >/dev/null 2>&1`;
  // Node parses these certificates at each start, which takes as long as the rest of it.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const { stderr, status } = await ended(line, env);
  if (status !== 0) throw new UserError(`${command[0]} ended with status ${status}`);
  const [wall = Number.NaN, user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return { wall, cpu: user + system };
}

function ended(line: string, env: NodeJS.ProcessEnv): Promise<{ stderr: string; status: number | null }> {
  return new Promise((resolve, reject) => {
    // In a group of its own, so that one signal ends the shell and the command.
    const child = spawn('bash', ['-c', line], { stdio: ['ignore', 'ignore', 'pipe'], env, detached: true });
    const kill = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {} // it has just ended
    };
    process.once('exit', kill);
    let stderr = '';
    child.stderr.on('data', chunk => (stderr += chunk));
    child.on('error', error => {
      process.off('exit', kill);
      reject(new UserError(`bench --cold needs bash: ${systemMessage(error)}`));
    });
    child.on('close', status => {
      process.off('exit', kill);
      resolve({ stderr, status });
    });
  });
}

export const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

interface Run {
  readonly name: string;
  readonly command: readonly string[];
}

/** Alternates the runs and makes a table; the last line compares the first two. */
async function compare(runs: readonly Run[], rounds: number): Promise<string> {
  const samples = new Map(runs.map(({ name }) => [name, [] as Sample[]]));
  for (const { command } of runs) await time(command);
  for (let round = 0; round < rounds; round++)
    for (const { name, command } of runs) samples.get(name)!.push(await time(command));
  const column = (of: readonly Sample[], pick: (s: Sample) => number): string =>
    `${median(of.map(pick)).toFixed(3)} (${Math.min(...of.map(pick)).toFixed(3)})`.padStart(18);
  const rows = [...samples].map(
    ([name, of]) => `${name.padEnd(14)}${column(of, s => s.wall)}${column(of, s => s.cpu)}`,
  );
  const [ours, theirs] = [...samples.values()];
  const ratio = (pick: (s: Sample) => number): string =>
    (median(ours!.map(pick)) / median(theirs!.map(pick))).toFixed(2);
  const title = `${''.padEnd(14)}${'wall s (least)'.padStart(18)}${'CPU s (least)'.padStart(18)}`;
  const last = `${ratio(s => s.wall)} times QEMU's wall time, ${ratio(s => s.cpu)} times its CPU time`;
  return [title, ...rows, `${last}, medians of ${rounds}`].join('\n');
}

const kcovbox = (...words: readonly string[]): readonly string[] => [
  process.execPath,
  join(packageRoot(), 'bin', 'kcovbox.cjs'),
  ...words,
];

const qemu = (kernel: string, initrd: string, append: string): readonly string[] => [
  ...[QEMU, '-M', 'virt', '-m', '256M', '-nographic', '-no-reboot'],
  ...['-kernel', kernel, '-initrd', initrd, '-append', append],
];

/** The guest kernel and a hello program. */
async function coldHello(dir: string, rounds: number): Promise<string> {
  const program = join(packageRoot(), PROGRAM);
  const guest = allInMemory(await prepareGuest(program, [], { dialect: 'openbsd', kcov: 'off' }));
  const initrd = join(dir, 'initrd');
  writeFileSync(initrd, guest.initrd);
  const runs = [
    { name: 'kcovbox run', command: kcovbox('run', program) },
    { name: 'qemu', command: qemu(guest.kernelPath, initrd, guest.append) },
    { name: 'node -e 0', command: [process.execPath, '-e', '0'] },
  ];
  return `boot and ${PROGRAM}:\n${await compare(runs, rounds)}`;
}

/** Debian's kernel, from the first instruction to a user program that turns the machine off. */
async function coldLinux(dir: string, rounds: number): Promise<string> {
  const guests = join(packageRoot(), '.cache', 'guests');
  const [kernel, busybox] = [join(guests, 'linux', 'Image'), join(guests, 'bin', 'busybox')];
  if (!existsSync(kernel) || !existsSync(busybox))
    return "skipped: Debian's Linux is not in .cache/guests (node setup/fetch-guests.mjs --linux)";
  const initrd = join(dir, 'linux-initrd');
  const init = new TextEncoder().encode('#!/bin/busybox sh\n/bin/busybox poweroff -f\n');
  const files = [
    { path: 'init', mode: 0o100755, data: init },
    { path: 'bin/busybox', mode: 0o100755, data: readFileSync(busybox) },
  ];
  writeFileSync(initrd, writeCpio(files));
  const theirs = qemu(kernel, initrd, LINUX_APPEND);
  const ours = kcovbox('boot', ...theirs.slice(1));
  const runs = [
    { name: 'kcovbox boot', command: ours },
    { name: 'qemu', command: theirs },
  ];
  return `Debian's Linux to its first user program:\n${await compare(runs, rounds)}`;
}

/** The tables as text. */
export async function benchCold(rounds: number): Promise<string> {
  if (!which(QEMU)) throw new UserError(`${QEMU} is not installed; kcovbox doctor prints the command`);
  const dir = makeTemporaryFolder('kcovbox-cold-');
  try {
    return `${await coldHello(dir, rounds)}\n\n${await coldLinux(dir, rounds)}`;
  } finally {
    removeTemporaryFolder(dir);
  }
}
