// `kcovbox faults sweep`: every fault of a device in one table. Both engines make the same table,
// and a row's command is the run whose outcome the row says.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULT_KINDS } from '../../emulator/index.ts';
import { type FaultSweep, faultSweep } from '../../run/faults/schema.ts';
import { isOneLine, kcovbox, ROOT, shell } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-sweep-'));
const cli = (...args: string[]) => kcovbox(args, { cwd: dir, timeout: 300_000 });
const PROGRAM = ['use.c', '--', '1', '2', '39'];

beforeAll(() => cpSync(join(ROOT, 'examples/device'), dir, { recursive: true }));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const rowsOf = (...options: string[]) => sweepOf(['--driver', 'summer.c'], ...options);

function sweepOf(driver: readonly string[], ...options: string[]) {
  const words = ['--device', 'summer.ts', ...driver, ...options, ...PROGRAM];
  const { status, stdout, stderr } = cli('faults', 'sweep', '-o', 'rows.json', ...words);
  expect(stderr.replace(/^kcovbox: building .*\n/, '')).toBe('');
  const file = faultSweep.parse(JSON.parse(readFileSync(join(dir, 'rows.json'), 'utf8')));
  return { file, stdout, status };
}

test('one row for each kind and event, the same on both engines, and every row can be repeated', () => {
  const { file, stdout, status } = rowsOf('--engine', 'jit');
  const other = rowsOf('--engine', 'interp').file;
  const { rows, devices, without } = file;
  const withoutEngine = (row: FaultSweep['rows'][number]) => ({ ...row, command: '' });
  expect(other.rows.map(withoutEngine)).toEqual(rows.map(withoutEngine));
  // id; address (8 bytes), count, status, status, sum.
  const events: Record<string, number> = { access: 6, read: 3, write: 4, alarm: 1, 'dma-read': 1, irq: 1 };
  expect(devices).toEqual([{ name: 'summer', events }]);
  const wanted = Object.entries(FAULT_KINDS).flatMap(([kind, { event }]) =>
    Array.from({ length: events[event] ?? 0 }, (_, i) => `${kind}@${i + 1}`),
  );
  expect(rows.map(({ kind, at }) => `${kind}@${at}`)).toEqual(wanted);
  expect(without).toEqual({ status: 0, console: '42\n' });
  expect(new Set(rows.map(row => row.outcome))).toEqual(new Set(['ok', 'other', 'error']));
  expect(status).toBe(0);
  expect(stdout).toContain(`${rows.length} runs: `);
  // A few here, all of them in faults.slow.test.ts.
  for (const row of rows.filter((_, i) => i % 13 === 3)) repeats(row);
});

function repeats({ command, status, outcome, line }: FaultSweep['rows'][number]): void {
  const ran = shell(command, { cwd: dir });
  expect({ command, status: ran.status }).toEqual({ command, status });
  if (outcome === 'ok') expect(ran.stdout).toBe('42\n');
  else expect(ran.stdout).toContain(line);
}

/** The driver with a flaw: `from` becomes `to`. */
function flawed(name: string, ...edits: readonly (readonly [from: string, to: string])[]): string[] {
  let text = readFileSync(join(dir, 'summer.c'), 'utf8');
  for (const [from, to] of edits) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  writeFileSync(join(dir, name), text);
  return ['--driver', name];
}

/** It sleeps until the interrupt comes, without a deadline. */
const PATIENT = [
  'err = wait_event_timeout(&s->wait, atomic_load(&s->status) || dev_gone(s->dev), deadline)',
  'wait_event(&s->wait, atomic_load(&s->status) || dev_gone(s->dev))',
] as const;

test('a driver that waits for ever hangs', () => {
  const driver = flawed('patient.c', PATIENT);
  const { file, status } = sweepOf(driver, '--kind', 'irq-drop');
  expect(file.rows).toMatchObject([{ outcome: 'hang', status: 125, line: '' }]);
  expect(status).toBe(1);
  repeats(file.rows[0]!);
});

test('what KASAN finds is a report', () => {
  const bug = 'if (!ended) { u32 *gone = kzalloc(8); kfree(gone); gone[0]++; }\n    if (!ended)';
  const driver = flawed(
    'freed.c',
    ['if (!ended)', bug],
    ['#include "driver.h"', '#include "alloc.h"\n#include "driver.h"'],
  );
  const { file, status } = sweepOf(driver, '--kasan', '--kind', 'irq-double', '--kind', 'irq-drop');
  expect(file.rows).toMatchObject([
    { outcome: 'error' },
    {
      outcome: 'report',
      line: expect.stringMatching(/^BUG: KASAN: slab-use-after-free in summer_interrupt/),
    },
  ]);
  expect(status).toBe(1);
  repeats(file.rows[1]!);
});

test.each([
  [['--of', 'nothing'], /^kcovbox: fault of nothing: devices that can have faults are edu/],
  [['--kind', 'nothing'], /the kinds are irq-drop, /],
  [['--engine', 'lockstep'], /^kcovbox: --engine lockstep: only jit or interp here\n$/],
  [['--max-insns', '1000'], /^kcovbox: the program does not end by itself without a fault/],
])('%j: one line', (options, line) => {
  const { status, stderr } = cli('faults', 'sweep', ...options, 'use.c');
  expect(stderr).toMatch(line);
  expect(isOneLine(stderr)).toBe(true);
  expect(status).toBe(125);
});

test('hostile devices: a find is a command that repeats it', () => {
  const driver = flawed('trusting.c', PATIENT);
  const words = ['--device', 'summer.ts', ...driver, '--runs', '40', ...PROGRAM];
  const { status, stdout } = cli('faults', 'hostile', ...words);
  expect(status).toBe(1);
  const [, command = ''] = /^hang in \d+: .*\n {2}(kcovbox run --hostile summer:\d+ .*)$/m.exec(stdout) ?? [];
  expect(shell(command, { cwd: dir })).toMatchObject({
    status: 125,
    stderr: expect.stringContaining('waits'),
  });
});

test('the catalogue', () => {
  const { stdout } = cli('faults', 'ls');
  expect(stdout.split('\n').filter(Boolean)).toHaveLength(Object.keys(FAULT_KINDS).length);
});
