// The Linux dialect against a real Linux kernel with kcov. The same static programs run under that
// kernel on QEMU, under that kernel on this project's emulator (both engines), and under the toy
// kernel (device and C hooks); they must find the same errno in every cell of the table, the same
// behaviours, the same record types and operands, counts of the same order. Needs the kernel: node
// setup/build-linux-kcov.mjs

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EngineKind, Machine } from '../../emulator/index.ts';
import { type CpioEntry, writeCpio } from '../../toolchain/index.ts';
import { initrd, kernel, program, run } from '../kernel/boot.ts';
import { findProgram, missing, withScratch } from '../support/tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const APPEND = 'console=ttyS0 earlycon=sbi no4lvl quiet';
const QEMU = findProgram('qemu-system-riscv64');
const built = spawnSync(process.execPath, [join(ROOT, 'setup/build-linux-kcov.mjs'), '--cached'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const image = built.status === 0 ? built.stdout.trim() : undefined;
const noLinux = missing(`a linux with kcov (${built.stderr.trim()})`, image);

const PROGRAMS = {
  table: 'kcov-conformance/linux-plain.c',
  behaviour: 'kcov-conformance/linux-plain-behaviour.c',
  stable: 'kcov-conformance/linux-stable.c',
  example: 'linux-kcov.c',
  selftest: 'kcov-suites/linux-selftest.c',
  executor: 'kcov-suites/linux-executor.c',
  documented: 'kcov-suites/linux-documented.c',
};
const RUNS = [
  'table',
  'behaviour',
  'stable',
  'example 0',
  'example 1',
  'example 2',
  'example 9',
  'selftest',
  'executor',
  'documented pc',
  'documented cmp',
  'documented remote',
];

/**
 * Behaviours that a real kernel need not show. Hostile counts: the toy bounds the count before it
 * multiplies, the real one overwrites word 0 with a pc for 2^64-1. The other two: work that is due
 * when a call returns (a new time slice) is recorded as part of the call.
 */
const REAL_DIFFERS = ['hostile_counts_never_write_outside'];
const REAL_MAY_DIFFER = ['interrupts_leave_nothing', 'the_same_call_gives_the_same_records'];

/** The output and status of each command of RUNS. */
type Outcome = Record<string, { status: number; lines: string[] }>;

const executables = async (): Promise<CpioEntry[]> =>
  Promise.all(
    Object.entries(PROGRAMS).map(async ([name, source]) => ({
      path: `bin/${name}`,
      mode: 0o100755,
      data: await program(source, 'linux'),
    })),
  );

async function archive(): Promise<Uint8Array> {
  const init = await program('kcov-conformance/real-init.c', 'linux');
  const runs = new TextEncoder().encode(RUNS.map(line => `/bin/${line}\n`).join(''));
  return writeCpio([
    { path: 'dev', mode: 0o040755, data: new Uint8Array() },
    { path: 'init', mode: 0o100755, data: init },
    { path: 'runs', mode: 0o100644, data: runs },
    ...(await executables()),
  ]);
}

/**
 * The console, cut at real-init's "== STATUS COMMAND" lines; what the kernel itself says between is
 * dropped.
 */
function outcomes(console: string): Outcome {
  const result: Outcome = {};
  let lines: string[] = [];
  for (const line of console.replaceAll('\r', '').split('\n')) {
    const end = line.match(/^== (\d+) \/bin\/(.*)$/);
    if (!end) {
      if (!/^(usb |dummy_|hub |raw-gadget|gadget)/.test(line)) lines.push(line);
      continue;
    }
    result[end[2]!] = { status: Number(end[1]), lines };
    lines = [];
  }
  return result;
}

function onQemu(cpio: Uint8Array): string {
  return withScratch(dir => {
    writeFileSync(join(dir, 'initrd'), cpio);
    const board = ['-M', 'virt', '-m', '512', '-nographic', '-no-reboot'];
    const images = ['-kernel', image!, '-initrd', join(dir, 'initrd'), '-append', APPEND];
    return spawnSync(QEMU!, [...board, ...images], { encoding: 'utf8', input: '', timeout: 600_000 }).stdout;
  });
}

function onOurs(cpio: Uint8Array, engine: EngineKind): { text: string; instret: number } {
  let text = '';
  const machine = Machine.create({
    kernel: { name: 'Image', bytes: readFileSync(image!) },
    initrd: { name: 'initrd', bytes: cpio },
    append: APPEND,
    ramBytes: 512 << 20,
    engine,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  });
  expect(machine.run(10e9)).toEqual({ kind: 'exit', status: 0 });
  return { text, instret: Number(machine.instret) };
}

/** The same commands under the toy kernel without the UNIQ series, one boot each. */
async function onToy(kcov: 'device' | 'off'): Promise<Outcome> {
  const elf = await kernel('linux+no-uniq');
  const files = Object.fromEntries((await executables()).map(({ path, data }) => [path, data!]));
  const all = initrd(files);
  const result: Outcome = {};
  for (const command of RUNS) {
    const [name, ...args] = command.split(' ');
    const options = { engine: 'jit', kcov, ramBytes: 256 << 20 } as const;
    const end = run(elf, all, `init=/bin/${name} -- ${args.join(' ')}`, options);
    result[command] = { status: Number(end.status), lines: end.text.split('\n') };
  }
  return result;
}

const stable = (lines: string[]) => lines.filter(line => /^[a-z].*: /.test(line));
const counts = (lines: string[]) =>
  lines
    .filter(line => line.startsWith('# '))
    .map(line => [line.replace(/ \d+$/, ''), Number(line.match(/\d+$/))] as const);
const notOk = (lines: string[]) => lines.flatMap(line => line.match(/^not ok (\w+)/)?.[1] ?? []);

describe.skipIf(noLinux)('a real linux kernel', () => {
  const real: Record<string, Outcome> = {};
  const toy: Record<string, Outcome> = {};
  let cpio: Uint8Array;
  beforeAll(async () => {
    cpio = await archive();
    toy.device = await onToy('device');
    toy.hooks = await onToy('off');
    if (QEMU) real.QEMU = outcomes(onQemu(cpio));
    const fast = onOurs(cpio, 'jit');
    const plain = onOurs(cpio, 'interp');
    expect(plain).toEqual(fast); /* engines agree on the console and the number of instructions */
    real.kcovbox = outcomes(plain.text);
  }, 1_200_000);
  const machines = ['kcovbox', ...(missing('qemu-system-riscv64', QEMU) ? [] : ['QEMU'])];

  it.each(machines)('ran every command on %s', on => {
    expect(Object.keys(real[on]!)).toEqual(RUNS);
  });

  it.each(machines)('gives the errno of every cell of the table: %s', on => {
    for (const outcome of [real[on]!, toy.device!, toy.hooks!]) {
      expect(outcome.table!.lines.filter(line => line.startsWith('not ok'))).toEqual([]);
      expect(outcome.table!.lines.join('\n')).toMatch(/^3\d\d cells, 0 failed$/m);
      expect(outcome.table!.status).toBe(0);
    }
  });

  it.each(machines)('behaves as the toy does, remote sections included: %s', on => {
    expect(notOk(toy.device!.behaviour!.lines)).toEqual([]);
    expect(notOk(toy.hooks!.behaviour!.lines)).toEqual([]);
    expect(notOk(real[on]!.behaviour!.lines).filter(name => !REAL_MAY_DIFFER.includes(name))).toEqual(
      REAL_DIFFERS,
    );
    expect(real[on]!.behaviour!.lines).toContain('ok a_common_handle_follows_work_and_children');
  });

  it.each(machines)('prints the stable lines that the toy prints, and counts of the same order: %s', on => {
    const lines = real[on]!.stable!.lines;
    expect(stable(lines).length).toBeGreaterThan(35);
    for (const other of [toy.device!, toy.hooks!]) {
      expect(stable(other.stable!.lines)).toEqual(stable(lines));
      const theirs = new Map(counts(lines));
      for (const [what, count] of counts(other.stable!.lines)) {
        expect(count / theirs.get(what)!, what).toBeGreaterThan(0.1);
        expect(count / theirs.get(what)!, what).toBeLessThan(10);
      }
    }
  });

  it.each(machines)('runs the example in modes 0 and 1 and refuses others as the toy does: %s', on => {
    for (const outcome of [real[on]!, toy.device!, toy.hooks!]) {
      const shown = (command: string) => outcome[command]!.lines.filter(line => line !== '');
      expect(outcome['example 0']!.status).toBe(0);
      expect(shown('example 0').length).toBeGreaterThan(2);
      expect(shown('example 0').filter(line => !/^pc 0xffffffff8[0-9a-f]{7}$/.test(line))).toEqual([]);
      expect(shown('example 1').length).toBeGreaterThan(1);
      const comparison = /^cmp 0xffffffff8[0-9a-f]{7} (const|value)(8|16|32|64) 0x[0-9a-f]+ 0x[0-9a-f]+$/;
      expect(shown('example 1').filter(line => !comparison.test(line))).toEqual([]);
      for (const refused of ['example 2', 'example 9'])
        expect(outcome[refused]).toMatchObject({
          status: 1,
          lines: ['KCOV_ENABLE: Invalid argument'].concat(outcome === real[on] ? [] : ['']),
        });
    }
  });

  it.each(machines)('passes the programs written for it: %s', on => {
    for (const name of ['selftest', 'executor', 'documented pc', 'documented cmp', 'documented remote'])
      expect([name, real[on]![name]!.status]).toEqual([name, 0]);
    /* Sleeping is nobody's background work. */
    for (const outcome of [real[on]!, toy.device!, toy.hooks!])
      expect(outcome['documented remote']!.lines).toContain('nothing');
  });
});
