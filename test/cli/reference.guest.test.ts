// The reference devices and drivers of examples/: their tests pass, and no fault makes the kernel
// hang, report or panic. The flawed drivers: each has one fault that shows its flaw.
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
  ['sensor/thermo', 'sensor/use.c', '23.50\n', []],
  ['ring/ring', 'ring/use.c', '900\n900\n900\n900\n', ['--events', '4']],
] as const)('%s: tests, and every fault', (files, program, console, options) => {
  const own = pair(files, files);
  const name = files.split('/')[1]!;
  const tested = cli('ktest', ...own, `${name}.*`);
  expect(tested.stdout).toMatch(/^# 0 of 1 failed$/m);
  expect(tested.status).toBe(0);
  const swept = cli('faults', 'sweep', '-o', '-', ...own, ...options, `examples/${program}`);
  const { rows, without } = faultSweep.parse(JSON.parse(swept.stdout));
  expect(without.console).toBe(console);
  expect(rows.filter(({ outcome }) => ['hang', 'report', 'panic'].includes(outcome))).toEqual([]);
  expect(rows.length).toBeGreaterThan(50);
  expect(swept.status).toBe(0);
});

test.each([
  ['waits', 'irq-drop', 1, { outcome: 'hang', status: 125 }, []],
  ['early', 'irq-spurious', 1, { outcome: 'panic', status: 126 }, []],
  [
    'trusts',
    'read-ones',
    3,
    { outcome: 'report', line: expect.stringMatching(/^BUG: KASAN: .* in thermo_read/) },
    ['--kasan'],
  ],
] as const)('the flaw of %s shows with %s@%i', (driver, kind, at, outcome, options) => {
  const own = pair('sensor/thermo', `flawed/${driver}`);
  expect(cli('run', ...own, 'examples/sensor/use.c')).toMatchObject({ stdout: '23.50\n', status: 0 });
  const swept = cli(
    'faults',
    'sweep',
    '-o',
    '-',
    '--kind',
    kind,
    ...options,
    ...own,
    'examples/sensor/use.c',
  );
  const { rows } = faultSweep.parse(JSON.parse(swept.stdout));
  expect(rows.find(row => row.at === at)).toMatchObject(outcome);
  expect(swept.status).toBe(1);
});
