// The reference devices and drivers of examples/: their tests pass, and no fault makes the kernel
// hang, report or panic. The flawed drivers: each has one fault that shows its flaw.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultSweep } from '../../run/faults/schema.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const cli = (...args: string[]) => kcovbox(args, { cwd: ROOT, timeout: 600_000 });
const pair = (device: string, driver: string) => [
  '--device',
  `examples/${device}.ts`,
  '--driver',
  `examples/${driver}.c`,
];

test.each([
  ['sensor/thermo', 'sensor/use.c', '23.50\n', [], [], 1],
  ['ring/ring', 'ring/use.c', '900\n900\n900\n900\n', ['--events', '4'], [], 1],
  [
    'disk/disk',
    'disk/use.c',
    'all blocks are there\n',
    ['--events', '4'],
    ['--driver', 'examples/disk/disk_test.c'],
    2,
  ],
] as const)('%s: tests, and every fault', (files, program, console, options, tests, count) => {
  const own = pair(files, files);
  const name = files.split('/')[1]!;
  const tested = cli('ktest', ...own, ...tests, `${name}*`);
  expect(tested.stdout).toContain(`\n# 0 of ${count} failed\n`);
  expect(tested.status).toBe(0);
  const swept = cli('faults', 'sweep', '-o', '-', ...own, ...options, `examples/${program}`);
  const { rows, without } = faultSweep.parse(JSON.parse(swept.stdout));
  expect(without.console).toBe(console);
  expect(rows.filter(({ outcome }) => ['hang', 'report', 'panic'].includes(outcome))).toEqual([]);
  expect(rows.length).toBeGreaterThan(50);
  expect(swept.status).toBe(0);
});

test.each([
  ['thermo', 'waits', 'irq-drop', 1, { outcome: 'hang', status: 125 }, []],
  ['thermo', 'early', 'irq-spurious', 1, { outcome: 'panic', status: 126 }, []],
  [
    'thermo',
    'trusts',
    'read-ones',
    3,
    { outcome: 'report', line: expect.stringMatching(/^BUG: KASAN: .* in thermo_read/) },
    ['--kasan'],
  ],
  ['disk', 'flushes', 'late', 13, { outcome: 'error', status: 1, line: 'block 0 is lost' }, []],
] as const)('the flaw of a driver of %s, %s, shows with %s@%i', (device, driver, kind, at, row, options) => {
  const { files, program, console } = {
    thermo: { files: 'sensor/thermo', program: 'examples/sensor/use.c', console: '23.50\n' },
    disk: { files: 'disk/disk', program: 'examples/disk/use.c', console: 'all blocks are there\n' },
  }[device];
  const sweepOf = (own: readonly string[]) => {
    const words = ['--kind', kind, '--events', '20', ...options, ...own, program];
    const { status, stdout } = cli('faults', 'sweep', '-o', '-', ...words);
    return { status, rows: faultSweep.parse(JSON.parse(stdout)).rows };
  };
  const own = pair(files, `flawed/${driver}`);
  expect(cli('run', ...own, program)).toMatchObject({ stdout: console, status: 0 });
  const { status, rows } = sweepOf(own);
  const bad = rows.find(r => r.at === at)!;
  expect(bad).toMatchObject(row);
  expect(status).toBe(row.outcome === 'error' ? 0 : 1);
  const good = sweepOf(pair(files, files)).rows.find(r => r.at === at);
  expect(['ok', 'error']).toContain(good?.outcome);
  expect([good?.outcome, good?.line]).not.toEqual([bad.outcome, bad.line]);
});

test('the flawed driver of disk.ts is the good one, but its fsync does not wait', () => {
  const body = (path: string) =>
    readFileSync(join(ROOT, 'examples', path), 'utf8').replace(/^\/\*.*?\*\//s, '');
  const good = body('disk/disk.c');
  const flawed = good
    .replace(/^ +err = wait_for\(d, ALL, 0\);.*\n/m, '')
    .replace('tag = err ? err : claim(', 'tag = claim(');
  expect(flawed).not.toBe(good);
  expect(body('flawed/flushes.c')).toBe(flawed);
});
