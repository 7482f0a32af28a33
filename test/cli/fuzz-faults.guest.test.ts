// `kcovbox fuzz --fault`: a driver that believes its device's lengths is found by programs whose
// device fails, and by no others; at the same execution with any number of workers, on both
// engines; and the crash is repeated by a C program with the fault, and by its capsule.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCHEMAS } from '../../run/schemas.ts';
import { COMMAND, kcovbox, kcovboxLines, type Ran, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-faults-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const BUILDING = /^kcovbox: building the \S+ kernel.*\n/gm;
/** The folders are the test's own. */
const TRUSTED = { KCOVBOX_TRUST: '1' };
function cli(...words: string[]): Ran {
  const ran = kcovbox(['fuzz', ...words], { cwd, env: TRUSTED });
  return { ...ran, stderr: ran.stderr.replace(BUILDING, '') };
}

const example = (...path: string[]): string => join(ROOT, 'examples', ...path);
const THERMO = ['--device', example('sensor', 'thermo.ts'), '--describe', example('fuzz', 'thermo.kd')];
const FLAWED = ['--kasan', ...THERMO, '--driver', example('flawed', 'trusts.c')];
const CALLS = ['*$thermo', 'dup', 'close'].flatMap(name => ['--call', name]);
const RUN = ['run', ...FLAWED, ...CALLS, '-n', '1024'];
const TITLE = 'KASAN: slab-out-of-bounds Write in thermo_read';
const crash = (campaign: string, name: string): string =>
  join(cwd, campaign, 'crashes', 'kasan-slab-out-of-bounds-write-in-thermo-read', name);

describe('a driver that trusts its device', () => {
  beforeAll(() => {
    const { status, stdout, stderr } = cli(...RUN, '--fault', 'thermo', '-j', '1', 'one');
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(new RegExp(`1 crashes\n  at execution \\d+: ${TITLE}\n$`));
  });

  test('is found with one fault and two calls', () => {
    expect(readFileSync(crash('one', 'program.txt'), 'utf8')).toMatch(
      /^!fault thermo:read-\S+\nr0 = openat\$thermo\(.*\)\nread\$thermo\(.*\)\n$/,
    );
  });

  test('is not found where nothing fails', () => {
    expect(cli(...RUN, '-j', '2', 'without')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(cwd, 'without', 'epochs.jsonl'), 'utf8')).not.toContain('!fault');
  });

  test('the campaign has the same files with two workers on the interpreter, in two parts', () => {
    const words = [...RUN, '--fault', 'thermo', '-j', '2', '--engine', 'interp', 'two'];
    expect(cli(...words).status).toBe(1);
    // The folder has the device.
    expect(cli('run', '-n', '2048', '-j', '2', '--engine', 'interp', 'two').stderr).toBe('');
    expect(cli('run', '-n', '2048', '-j', '1', 'one').stderr).toBe('');
    const { status, stdout } = spawnSync('diff', ['-r', 'one', 'two'], { cwd, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });

  test('the campaign is repeated, and its manifest follows the schema', () => {
    expect(cli('verify', '--sample', '100', '--engine', 'interp', 'one')).toMatchObject({ status: 0 });
    const manifest = JSON.parse(readFileSync(join(cwd, 'one', 'campaign.json'), 'utf8'));
    expect(SCHEMAS['fuzz-campaign'].parse(manifest)).toMatchObject({
      config: { faults: ['thermo'] },
      devices: [{ file: 'thermo.ts', params: {} }],
      whole: true,
    });
  });

  test('exec says which faults happened', () => {
    const [fault = ''] = readFileSync(crash('one', 'program.txt'), 'utf8').split('\n');
    const more = join(cwd, 'more.txt');
    const text = readFileSync(crash('one', 'program.txt'), 'utf8');
    writeFileSync(more, `!fault edu:irq-drop@1\n${text}`);
    const { status, stdout } = cli('exec', ...FLAWED, more);
    expect(status).toBe(1);
    expect(stdout).toContain('\nfault edu:irq-drop@1: did not happen\n');
    expect(stdout).toContain(`\n${fault.replace('!', '')}: happened\n`);
    expect(stdout).toContain(`\ncrash: ${TITLE}\n`);
  });

  test('the C program shows it with the fault, and so does its capsule', () => {
    const { status, stdout, stderr } = cli('repro', 'one');
    expect([status, stderr]).toEqual([0, '']);
    const [first, command = '', ...rest] = stdout.split('\n');
    expect([first, rest]).toEqual([`same  ${TITLE}`, ['']]);
    // Its number counts from power-on: behind the probe of the driver.
    expect(command).toMatch(/^ {2}kcovbox run .* --fault thermo:read-\S+ .*\/repro\.c$/);
    const shell = command.replace('kcovbox', `${process.execPath} ${COMMAND}`);
    const again = spawnSync('sh', ['-c', `${shell} </dev/null`], { cwd, encoding: 'latin1' });
    expect(again.stdout).toContain('BUG: KASAN: slab-out-of-bounds in thermo_read');
    const device = ['--device', join(cwd, 'one', 'devices', 'thermo.ts')];
    const replay = kcovbox(['replay', ...device, crash('one', 'repro.kcapsule')], { cwd });
    expect(replay.stderr).toMatch(/^kcovbox: the same run: /m);
    expect(replay.stdout).toContain('BUG: KASAN: slab-out-of-bounds in thermo_read');
  });
});

test('the folder of a campaign with a device may have a comma in its path', () => {
  cpSync(join(cwd, 'one'), join(cwd, 'one, again'), { recursive: true });
  const { status, stdout, stderr } = cli('repro', 'one, again');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`^same {2}${TITLE}\\n {2}kcovbox run .*one,, again/devices/thermo\\.ts`));
});

// A device is code of the host, and a folder may be a stranger's.
test('a folder with a device is not run without the word of its user', () => {
  const made = join(cwd, 'made');
  const device = join(cwd, 'greedy.ts');
  writeFileSync(
    device,
    `const { constructor } = require as unknown as { constructor: (text: string) => () => any };
constructor('return process')().getBuiltinModule?.('fs').writeFileSync(${JSON.stringify(made)}, '');
${readFileSync(example('sensor', 'thermo.ts'), 'utf8')}`,
  );
  const words = ['--device', device, '--driver', example('sensor', 'thermo.c'), '-n', '64'];
  expect(cli('run', ...words, 'stranger')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(made)).toBe(true);
  rmSync(made);
  for (const command of [
    ['fuzz', 'run', 'stranger'],
    ['fuzz', 'verify', 'stranger'],
    ['fuzz', 'repro', 'stranger'],
    ['bugs', 'score', 'stranger'],
  ]) {
    const { status, stdout, stderr } = kcovbox(command, { cwd, env: { KCOVBOX_TRUST: '' } });
    expect([status, stdout]).toEqual([125, '']);
    expect(stderr).toBe(
      'kcovbox: device stranger/devices/thermo.ts is code that runs with your rights: ' +
        'set KCOVBOX_TRUST=1 if you trust it\n',
    );
  }
  expect(existsSync(made)).toBe(false);
});

const OPEN = 'r0 = openat$thermo(0xffffff9c, &"/dev/thermo\\x00", 0x0, 0x0)\n';
const READ = `${OPEN}read$thermo(r0, &out[8], 0x8)\n`;

test('a driver that waits without end where its device fails hangs, and not where a call just sleeps', () => {
  const exec = (text: string): string => {
    writeFileSync(join(cwd, 'waits.txt'), text);
    return cli('exec', ...THERMO, '--driver', example('flawed', 'waits.c'), 'waits.txt').stdout;
  };
  expect(exec(READ)).toMatch(/^done, /m);
  expect(exec(`!fault thermo:irq-drop@1\n${READ}`)).toMatch(/^crash: INFO: task hung in sys_read$/m);
  // Late, but it comes.
  expect(exec(`!fault thermo:irq-late@1=900ms\n${READ}`)).toMatch(/^done, /m);
  // The signal that would interrupt the second read is blocked.
  const sleeps = `pipe2(&{>r1, >r2}, 0x0)\nrt_sigprocmask(0x0, &0xffffffffffffffff, nil, 0x8)\nread(r1, &out[1], 0x1)\n`;
  const both = exec(`!fault thermo:read-flip@1=0x1\n${READ}${sleeps}`);
  expect(both).toMatch(/: happened\nasleep, /);
  expect(both).not.toContain('crash:');
});

test('a driver that violates a rule of its device has a title, where the device has not failed', () => {
  const good = readFileSync(example('sensor', 'thermo.c'), 'utf8');
  const start = 'mmio_write32(t->regs + THERMO_START, 1);';
  expect(good.split(start)).toHaveLength(2);
  writeFileSync(join(cwd, 'twice.c'), good.replace(start, `${start} ${start}`));
  const exec = (text: string): string => {
    writeFileSync(join(cwd, 'twice.txt'), text);
    return cli('exec', ...THERMO, '--driver', 'twice.c', 'twice.txt').stdout;
  };
  expect(exec(READ)).toMatch(/^crash: PROTOCOL: thermo: start-while-busy$/m);
  expect(exec(`!fault edu:late@1\n${READ}`)).toMatch(/^crash: PROTOCOL: thermo: start-while-busy$/m);
  expect(exec(`!fault thermo:irq-late@1\n${READ}`)).not.toContain('crash:');
});

test('bench gives its programs faults, and they are stable', () => {
  const { status, stdout } = cli(
    'bench',
    '--rounds',
    '2',
    ...THERMO,
    '--driver',
    example('sensor', 'thermo.c'),
    '--fault',
    'thermo',
    '--fault',
    'edu:late',
    '--json',
  );
  expect(status).toBe(0);
  expect(SCHEMAS['fuzz-bench'].parse(JSON.parse(stdout))).toMatchObject({ unstable: null });
});

test('what cannot fail is refused in one line', () => {
  writeFileSync(join(cwd, 'other.txt'), '!fault disk:late@1\ngetpid()\n');
  const cases: readonly (readonly [string[], string])[] = [
    [
      ['run', '--linux', 'x', '--fault', 'edu', 'no'],
      '--linux x: a fault of a device is for the kernels of kcovbox; omit one of the two',
    ],
    [
      ['run', '--harness', 'x.c', '--fault', 'edu', 'no'],
      '--harness x.c: a fault of a device is for the kernels of kcovbox; omit one of the two',
    ],
    [
      ['run', '--harness', 'x.c', '--driver', 'x.c', 'no'],
      '--harness x.c: --driver is for the kernels of kcovbox; omit one of the two',
    ],
    [
      ['run', '--xv6', 'x', '--fault', 'virtio0', 'no'],
      '--xv6 x: a fault of a device is for the kernels of kcovbox; omit one of the two',
    ],
    [['run', '--fault', 'virtio7', 'no'], 'fault of virtio7: the devices of programs are edu'],
    [
      ['run', '--fault', 'edu:irq-drop@2', 'no'],
      'fault edu:irq-drop@2: the events are drawn; write it without @N',
    ],
    [
      ['run', '--fault', 'edu', '--fault', 'edu:late', 'no'],
      "option '--fault <device>' argument 'edu:late' is invalid. edu is there twice; write its kinds as one list",
    ],
    [['run', '--fault', 'edu:what', 'no'], 'fault edu:what: the kinds are '],
    [['exec', 'other.txt'], 'fault of disk: the devices of programs are edu'],
  ];
  const ran = kcovboxLines(
    cases.map(([words]) => ['fuzz', ...words]),
    { cwd },
  );
  for (const [i, [words, why]] of cases.entries()) {
    expect(ran[i]!.stderr, words.join(' ')).toContain(why);
    expect(ran[i]!.stderr.trim().split('\n'), words.join(' ')).toHaveLength(1);
  }
});
