// Coverage that must not depend on timing: interrupts in a traced call, and snapshots inside an
// open remote section.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type EngineKind, readElf, stateHash } from '../../emulator/index.ts';
import { type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { boot, initrd, kernel, program, run } from '../kernel/boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('interrupts', () => {
  it.each(['device', 'off'] as const)('leave no record wherever they hit a call (kcov %s)', async kcov => {
    const archive = initrd({ 'bin/t': await program('kcov-conformance/interrupts.c') });
    const { text, status } = run(await kernel(), archive, 'init=/bin/t', { kcov, engine: 'interp' });
    expect(text).toMatch(/^ok: \d+ records in each of 4000 rounds, \d+ timers fired by then$/m);
    expect(status).toBe(0);
  });
});

/**
 * Which functions left records, by the kind of context they ran in, while one test of a dialect's
 * program runs.
 */
async function functionsByContext(dialect: Dialect, test: string): Promise<Record<string, Set<string>>> {
  const elf = await kernel(dialect);
  const bytes = await program(`kcov-conformance/${dialect}-behaviour.c`, dialect);
  const functions = readElf(readFileSync(elf), 'kernel').symbols.filter(symbol => symbol.kind === 'func');
  const seen: Record<string, Set<string>> = {};
  const options = { engine: 'interp', ramBytes: 256 << 20 } as const;
  const { machine, text } = boot(elf, initrd({ 'bin/t': bytes }), `init=/bin/t -- ${test}`, options);
  machine.board.kcov!.onRecord(({ context, pc }) => {
    const where = functions.find(f => pc > f.value && pc <= f.value + f.size);
    (seen[context] ??= new Set()).add(where?.name ?? pc.toString(16));
  });
  machine.run(2_000_000_000);
  expect(text()).toContain(`ok ${test}`);
  return seen;
}

describe.skipIf(!ready)('a call that sleeps', () => {
  /** Of sched.c, waitq.c and mutex.c. */
  const SLEEPING = ['schedule', 'sleep_prepare', 'sleep_commit', 'mutex_lock'];
  const test = 'sleeping_does_not_lose_the_thread';

  it.each(['openbsd', 'netbsd', 'freebsd'] as const)(
    '%s: the context switch is part of it',
    async dialect => {
      const { task } = await functionsByContext(dialect, test);
      expect(SLEEPING.filter(name => task!.has(name))).toContain('schedule');
    },
  );

  it('linux: scheduler and sleeping locks are not instrumented', async () => {
    const { task } = await functionsByContext('linux', test);
    expect([...task!].length).toBeGreaterThan(5);
    expect(SLEEPING.filter(name => task!.has(name))).toEqual([]);
  });
});

describe.skipIf(!ready)('the edu device', () => {
  it('openbsd: its interrupt and its task record for the process that asked', async () => {
    const seen = await functionsByContext('openbsd', 'remote_collects_a_device');
    expect([...(seen['remote-interrupt'] ?? [])]).toContain('edu_interrupt');
    expect([...(seen['remote-task'] ?? [])]).toContain('edu_complete');
    expect([...(seen['remote-task'] ?? [])]).not.toContain('edu_interrupt');
  });

  it('linux: its task records for the common handle, its interrupt for nobody', async () => {
    const seen = await functionsByContext('linux', 'a_common_handle_collects_a_device');
    expect([...(seen['remote-task'] ?? [])]).toContain('edu_complete');
    expect(Object.values(seen).flatMap(names => [...names])).not.toContain('edu_interrupt');
  });
});

/**
 * Dialect, test of its behaviour program, and the kind of context whose first record the snapshot
 * follows.
 */
const OPEN: [Dialect, string, 'task' | 'remote-task' | 'remote-interrupt'][] = [
  ['openbsd', 'remote_collects_timeouts', 'remote-interrupt'],
  ['openbsd', 'remote_collects_a_device', 'remote-task'],
  ['netbsd', 'mailbox_collects_the_port', 'remote-task'],
  ['freebsd', 'switches_lack_the_constant_bit', 'task'],
  ['linux', 'usb_handle_collects_hub_and_completion', 'remote-task'],
  ['linux', 'usb_handle_collects_hub_and_completion', 'remote-interrupt'],
  ['linux', 'uniq_modes_report_once', 'task'],
];

describe.skipIf(!ready)('snapshots', () => {
  it.each(OPEN)('restore what is being recorded: %s, %s, %s', async (dialect, test, context) => {
    const bytes = await program(`kcov-conformance/${dialect}-behaviour.c`, dialect);
    const elf = await kernel(dialect);
    const start = (engine: EngineKind) =>
      boot(elf, initrd({ 'bin/t': bytes }), `init=/bin/t -- -b ${test}`, { engine });
    const { machine: first, text } = start('interp');
    let isOpen = false;
    const { kcov } = first.board;
    kcov!.onRecord(record => {
      isOpen ||= record.context === context;
    });
    while (!isOpen) expect(first.run(60).kind).toBe('budget');
    kcov!.onRecord(undefined);
    const snapshot = first.snapshot();
    const before = text().length;
    const { machine: second, text: rest } = start('jit');
    second.restore(snapshot);
    expect(stateHash(second)).toBe(stateHash(first));
    const ends = [first.run(2_000_000_000), second.run(2_000_000_000)];
    expect(ends[1]).toEqual(ends[0]);
    expect(text()).toMatch(new RegExp(`^ok ${test}`, 'm'));
    expect(rest()).toBe(text().slice(before));
    expect(stateHash(second)).toBe(stateHash(first));
  });
});
