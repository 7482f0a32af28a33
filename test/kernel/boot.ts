// Boots the guest kernel with programs of guest-programs/ for tests: on our machine, and on QEMU.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Machine, type MachineOptions } from '../../emulator/index.ts';
import { buildKernel, buildProgram, type CpioEntry, type Dialect, writeCpio } from '../../toolchain/index.ts';
import { withScratch } from '../support/tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** More than any of the programs needs; a hang becomes a failure, not a timeout. */
const BUDGET = 3_000_000_000;

/**
 * Test programs about files whose behaviour is Linux's own, and those about what only this kernel
 * has.
 */
export const FILE_PROGRAMS = [
  'attributes',
  'sysv-shm',
  'files',
  'pipes',
  'sockets',
  'procfs',
  'truncate',
  'splice',
  'inotify',
  'calls',
  'ptys',
  'jobs',
];
export const OWN_FILE_PROGRAMS = ['queues', 'devices'];

export interface Ended {
  readonly text: string;
  /** The program's exit status, or what stopped the machine. */
  readonly status: number | string;
  readonly instret: number;
}

/** A C program of guest-programs/, compiled. */
export async function program(name: string, dialect: Dialect = 'openbsd'): Promise<Uint8Array> {
  const { path } = await buildProgram(join(ROOT, 'guest-programs', name), { dialect });
  return readFileSync(path);
}

export async function kernel(conf = 'openbsd'): Promise<string> {
  return (await buildKernel(conf)).path;
}

/** An initial file system of executables: { 'bin/x': bytes }. */
export const initrd = (files: Record<string, Uint8Array>): Uint8Array =>
  writeCpio(Object.entries(files).map(([path, data]): CpioEntry => ({ path, mode: 0o100755, data })));

/** A machine with this kernel, switched on, and what its console has shown. */
export interface Booted {
  readonly machine: Machine;
  text(): string;
}

export function boot(
  kernelPath: string,
  archive: Uint8Array,
  append: string,
  options: Partial<MachineOptions> = {},
): Booted {
  let text = '';
  const machine = Machine.create({
    kernel: { name: kernelPath, bytes: readFileSync(kernelPath) },
    initrd: { name: 'initrd', bytes: archive },
    append,
    bios: 'default',
    ramBytes: 128 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  return { machine, text: () => text };
}

/**
 * Runs to the end on our machine; `typed` is on the wire from the start, `answer` once the console
 * shows "> ".
 */
export function run(
  kernelPath: string,
  archive: Uint8Array,
  append: string,
  more: Partial<MachineOptions> & { typed?: string; answer?: string } = {},
  budget = BUDGET,
): Ended {
  const { typed, answer, ...options } = more;
  const { machine, text } = boot(kernelPath, archive, append, options);
  if (typed !== undefined) machine.input(new TextEncoder().encode(typed));
  if (answer !== undefined) {
    while (!text().includes('> ') && machine.run(1_000_000).kind === 'budget');
    machine.input(new TextEncoder().encode(answer));
  }
  const end = machine.run(budget);
  return {
    text: text().replaceAll('\r\n', '\n'),
    status: end.kind === 'exit' ? end.status : end.kind,
    instret: Number(machine.instret),
  };
}

/**
 * A conversation at the console: waits for each text (after the one before), then types. Returns
 * all that was shown; a text that does not come is an error which shows it.
 */
export function converse(
  kernelPath: string,
  archive: Uint8Array,
  append: string,
  steps: readonly (readonly [wait: string, type: string])[],
): string {
  const { machine, text } = boot(kernelPath, archive, append);
  let from = 0;
  for (const [wait, type] of steps) {
    let turns = 0;
    while (!text().includes(wait, from)) {
      const idle = machine.run(1_000_000).kind !== 'budget';
      if (++turns > 500 || (idle && !text().includes(wait, from)))
        throw new Error(`"${wait}" did not come after:\n${text()}`);
    }
    from = text().indexOf(wait, from) + wait.length;
    // A person types when nothing moves any more: the shell has started the command that it echoed.
    for (turns = 0; type !== '' && turns < 50 && machine.run(1_000_000).kind === 'budget'; turns++);
    machine.input(new TextEncoder().encode(type));
  }
  machine.run(100_000_000);
  return text();
}

/** The same on QEMU with OpenSBI. The program's status does not come out of QEMU. */
export function runQemu(
  qemu: string,
  kernelPath: string,
  archive: Uint8Array,
  append: string,
  more: readonly string[] = [],
): string {
  return withScratch(dir => {
    const image = join(dir, 'initrd');
    writeFileSync(image, archive);
    const args = [
      '-M',
      'virt',
      '-m',
      '128M',
      '-nographic',
      '-no-reboot',
      '-kernel',
      kernelPath,
      '-initrd',
      image,
    ];
    const done = spawnSync(qemu, [...args, '-append', append, ...more], {
      encoding: 'utf8',
      input: '',
      timeout: 120_000,
    });
    return done.stdout.slice(done.stdout.indexOf('Boot HART MEDELEG')).replaceAll('\r\n', '\n');
  });
}

/** The lines that say a test failed; an output without a single "ok" counts as one. */
export function failures(text: string): string[] {
  const bad = text.split('\n').filter(line => line.startsWith('not ok') || line.startsWith('panic'));
  return /^ok /m.test(text) ? bad : [...bad, `no test reported: ${text.slice(-300)}`];
}
