// A device and a driver of the user's own, from files outside of the product: they run, their tests
// run, faults reach the driver, and a run with them is recorded and repeated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSealed } from '../../run/capsule/seal.ts';
import { pack, readZip, unpack } from '../../run/capsule/zip.ts';
import { HOST } from '../run/sample.ts';
import { COMMAND, kcovbox, kcovboxLines, ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-device-'));
const cli = (...args: string[]) => kcovbox(args, { cwd: dir });
const OWN = ['--device', 'summer.ts', '--driver', 'summer.c', '--max-insns', '500000000'];
const sum = (...options: string[]) => cli('run', ...OWN, ...options, 'use.c', '--', '1', '2', '39');

beforeAll(() => cpSync(join(ROOT, 'examples/device'), dir, { recursive: true }));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LOGGED = 'summer: 3 numbers, sum 42\n';

test('the device works, with parameters, in both engines and on several harts', () => {
  // A first run may say that it builds a kernel.
  for (const dialect of ['openbsd', 'linux']) sum('--dialect', dialect);
  const engines = ['interp', 'lockstep'].map(name => ['--engine', name]);
  for (const options of [[], ...engines, ['--smp', '4', '--dialect', 'linux']])
    expect(sum(...options)).toMatchObject({ status: 0, stdout: '42\n', stderr: LOGGED });
  const few = cli('run', '--device', 'summer.ts,most=2', ...OWN.slice(2), 'use.c', '--', '1', '2', '3');
  expect(few).toMatchObject({ status: 1, stdout: 'summer: Invalid argument\n' });
});

test('an edit of a file that the driver includes builds the kernel again; cache ls names the driver', () => {
  const driver = readFileSync(join(dir, 'summer.c'), 'utf8');
  writeFileSync(join(dir, 'own.c'), `#include "own $#.h"\n${driver}`);
  writeFileSync(join(dir, 'own $#.h'), '');
  const run = () => cli('run', '--device', 'summer.ts', '--driver', 'own.c', 'use.c', '--', '1', '2');
  expect(run()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^3$/m) });
  expect(cli('cache', 'ls').stdout).toMatch(/ openbsd-\w{12}\.elf {2}sha256:\w{16} {2}with \S+\/own\.c$/m);
  writeFileSync(join(dir, 'own $#.h'), '#error edited\n');
  expect(run()).toMatchObject({ status: 123, stderr: expect.stringContaining('error: edited') });
});

test('no report shows the text of a source that was edited after the build', () => {
  const old = readFileSync(join(dir, 'summer.c'), 'utf8');
  const edited = join(dir, 'edited.c');
  writeFileSync(edited, old);
  const options = ['--device', 'summer.ts', '--driver', 'edited.c', '--trace', '--cover', 'edited.kcov'];
  const report = (...more: string[]) => [
    ...['cov', 'report', '--by', 'source', '-f', '^add_up$'],
    ...[...more, 'edited.kcov'],
  ];
  const page = (name: string) => ['cov', 'report', '-o', name, 'edited.kcov'];
  const run = ['run', ...options, 'use.c', '--', '1', '2'];
  const [ran, before, first] = kcovboxLines([run, report(), page('first.html')], { cwd: dir });
  expect([ran!.status, first!.status]).toEqual([0, 0]);
  expect(before).toMatchObject({ stderr: '', stdout: expect.stringMatching(/ [+] {5}status = atomic_load/) });
  const textOf = (name: string): string => readFileSync(join(dir, name), 'utf8');
  expect(textOf('first.html')).toContain('status = atomic_load');

  writeFileSync(edited, `// a line more\n${old}`);
  mkdirSync(join(dir, 'olds', dir), { recursive: true });
  writeFileSync(join(dir, 'olds', edited), old);
  const lines = [report(), page('second.html'), report('-S', 'olds')];
  const [after, second, withOld] = kcovboxLines(lines, { cwd: dir });
  expect(after!.stderr).toBe(
    `kcovbox: ${edited} has changed since the image was built: such files are shown without their text; ` +
      'run the program again, or give cov -S with a folder of the old ones\n',
  );
  expect(after!.stdout).toContain(`${edited}  (source not found)\n`);
  const marks = (text: string): string[] => text.match(/^ *\d+ (?=.{8} [-+~?](?: |$)).{10}/gm) ?? [];
  expect(marks(before!.stdout).length).toBeGreaterThan(10);
  expect(marks(after!.stdout)).toEqual(marks(before!.stdout));
  expect(after!.stdout).not.toContain('status');
  expect(second!.status).toBe(0);
  expect(textOf('second.html')).not.toContain('status = atomic_load');
  const { status, stdout, stderr } = before!;
  expect(withOld).toMatchObject({ status, stdout, stderr });
});

test('a test inside the driver', () => {
  const { status, stdout } = cli('ktest', ...OWN, 'summer.*');
  expect(stdout).toContain('ok 1 summer.it_adds_up\n');
  expect(status).toBe(0);
});

test.each([
  ['irq-drop', 'summer: Input/output error\n', 1],
  ['irq-double', '42\n', 0],
  ['never', 'summer: Input/output error\n', 1],
  ['irq-late=50ms', '42\n', 0],
  ['read-ones@1', 'summer: No such file or directory\n', 1], // the probe says: not mine
])('fault %s reaches the driver', (fault, stdout, status) => {
  const stderr = expect.stringMatching(new RegExp(`^(${LOGGED})*$`));
  expect(sum('--fault', `summer:${fault}`)).toMatchObject({ stdout, status, stderr });
});

test('a line that stays high is disabled, and the guest goes on', () => {
  const { status, stdout, stderr } = sum('--fault', 'summer:irq-stuck');
  expect(stdout.replace(/^irq.*\n/m, '')).toBe('42\n');
  expect(stdout + stderr).toMatch(
    /^irq \d+ \(summer@\w+\): 10000 interrupts in a row, the line is disabled$/m,
  );
  expect(status).toBe(0);
});

test('a run with a device and a fault is described, recorded and repeated', () => {
  const ran = sum('--fault', 'summer:dma-read-flip', '--record', 'run.kcapsule', '--result', 'result.json');
  expect(ran.status).toBe(0);
  expect(ran.stdout).not.toBe('42\n');
  const { run } = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'));
  expect(run.machine).toMatchObject({ own: [{ name: 'summer' }], faults: ['summer:dma-read-flip@1'] });
  expect(cli('replay', '--device', 'summer.ts', 'run.kcapsule')).toMatchObject({
    status: 0,
    stdout: ran.stdout,
    stderr: expect.stringContaining('the same run'),
  });
  expect(cli('replay', 'run.kcapsule').stderr).toMatch(/^kcovbox: the run had device summer .*--device\n$/);
});

test.each([
  ['run', 'SIGINT', ['use.c', '--', '1']],
  ['ktest', 'SIGTERM', ['summer.*']],
  ['run', 'SIGTERM', ['--cover', 'a.kcov', 'use.c', '--', '1']],
] as const)('%s with a handler that never returns ends with %s', async (verb, signal, rest) => {
  const text = readFileSync(join(dir, 'summer.ts'), 'utf8');
  const stuck = text.replace('onWrite: {', "onRead: { id(dev) { dev.log('stuck'); for (;;); } }, onWrite: {");
  writeFileSync(join(dir, 'stuck.ts'), stuck);
  const args = [COMMAND, verb, '--device', 'stuck.ts', '--driver', 'summer.c', ...rest];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  await once(child.stderr, 'data');
  const start = process.hrtime.bigint();
  child.kill(signal);
  const [status, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
  // A second, and what a busy machine adds.
  expect(Number(process.hrtime.bigint() - start) / 1e9).toBeLessThan(3);
  expect([128 + constants.signals[signal], signal]).toContain(status ?? killedBy);
});

/** summer.c with a line in front of the command, or in its place. */
function flawed(name: string, command: string): string[] {
  const text = readFileSync(join(dir, 'summer.c'), 'utf8');
  const line = '    mmio_write32(s->regs + SUMMER_COUNT, n);\n';
  expect(text).toContain(line);
  const alloc = text.replace('#include "driver.h"', '#include "alloc.h"\n#include "driver.h"');
  writeFileSync(join(dir, name), alloc.replace(line, command));
  return ['--driver', name];
}

/** Line of a file that a test has written. */
const lineOf = (name: string, text: string): number =>
  readFileSync(join(dir, name), 'utf8')
    .split('\n')
    .findIndex(line => line.includes(text)) + 1;

/** A writer gets a signal after 5 ms; 20 ms later another one asks for the sum of 40 and 2. */
const INTERRUPTED = `#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void on_signal(int number) { (void)number; }
static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    uint32_t numbers[2] = {40, 2}, sum;
    int fd = open("/dev/summer", O_RDWR), status;
    pid_t child = fork();
    long start;
    if (child == 0) {
        sigaction(SIGUSR1, &action, NULL);
        _exit(write(fd, numbers, 4) < 0 ? errno : 0);
    }
    usleep(5000);
    start = now();
    kill(child, argc > 1 ? SIGKILL : SIGUSR1);
    waitpid(child, &status, 0);
    printf("%s, %s\\n", WIFSIGNALED(status) ? "killed" : strerror(WEXITSTATUS(status)),
           now() - start < 10 ? "at once" : "late");
    usleep(20000);
    status = write(fd, numbers, 8) == 8 && read(fd, &sum, 4) == 4;
    printf("%d\\n", status ? (int)sum : -errno);
    return 0;
}
`;

test.each([
  ['never answers', 'summer.ts', ['--fault', 'summer:never@1'], '-16'],
  ['answers late', 'summer.ts,latency=8000000', [], '42'],
])('a device %s: a signal ends the wait, and no command meets a busy device', (_, device, faults, then) => {
  writeFileSync(join(dir, 'interrupted.c'), INTERRUPTED);
  const words = ['run', '--device', device, '--driver', 'summer.c', ...faults, 'interrupted.c', '--'];
  for (const [args, first] of [
    [[], 'Interrupted system call, at once'],
    [['kill'], 'killed, at once'],
  ] as const) {
    const { stdout, stderr } = cli(...words, ...args);
    expect(stdout).toBe(`${first}\n${then}\n`);
    expect(stderr).not.toContain('PROTOCOL');
  }
});

test('violations of the protocol name the line of the driver, once per site', () => {
  const twice = `for (u32 i = 0; i < 3; i++)
        mmio_write32(s->regs + SUMMER_COUNT, n);
    mmio_write32(s->regs + SUMMER_STATUS, SUMMER_STATUS_DONE);\n`;
  const words = ['run', '--device', 'summer.ts', ...flawed('twice.c', twice), '--result', 'r.json', 'use.c'];
  for (const engine of ['jit', 'interp']) {
    const { stderr } = cli(...words, '--engine', engine, '--', '1', '2', '39');
    const lines = stderr.split('\n').filter(line => line.startsWith('PROTOCOL'));
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^PROTOCOL: summer: command-while-busy: .*, at add_up \\(.*twice\\.c:${lineOf('twice.c', 'COUNT, n')}\\) in summer_write`,
        ),
      ),
      expect.stringMatching(
        new RegExp(
          `^PROTOCOL: summer: acknowledge-without-cause: .*, at add_up \\(.*twice\\.c:${lineOf('twice.c', 'STATUS, SUMMER_STATUS_DONE)')}\\) in`,
        ),
      ),
    ]);
  }
  const { outcome } = JSON.parse(readFileSync(join(dir, 'r.json'), 'utf8'));
  expect(outcome.violations).toMatchObject([
    { device: 'summer', rule: 'command-while-busy', times: 2 },
    { device: 'summer', rule: 'acknowledge-without-cause', times: 1 },
  ]);
  expect(cli(...words, '--no-symbolize', '--', '1', '2').stderr).toMatch(
    /^PROTOCOL: summer: command-while-busy: .*, at pc 0x/m,
  );
});

test('a report of KASAN names lines, allocation and release; DMA to freed memory is a violation', () => {
  const freed = `u8 *gone = kmalloc(40);
    kfree(gone);
    gone[3] = 1;
    mmio_write64(s->regs + SUMMER_ADDRESS, dma_addr(gone));
    mmio_write32(s->regs + SUMMER_COUNT, 2);\n`;
  const words = [
    'run',
    '--kasan',
    '--device',
    'summer.ts',
    ...flawed('freed.c', freed),
    'use.c',
    '--',
    '1',
    '2',
  ];
  const { stdout, stderr } = kcovbox(words, { cwd: dir, timeout: 600_000 });
  const place = (line: number) =>
    `  add_up \\(.*freed\\.c:${line}\\) in summer_write \\(.*freed\\.c:\\d+\\)$`;
  expect(stdout).toMatch(
    new RegExp(
      `^BUG: KASAN: slab-use-after-free in summer_write\\+0x\\w+${place(lineOf('freed.c', 'gone[3]'))}`,
      'm',
    ),
  );
  expect(stdout).toMatch(/^The address is 3 bytes into an object of 40 bytes at \w{16}$/m);
  expect(stdout).toMatch(
    new RegExp(
      `^Allocated by task \\d+:\\n {2}\\[<\\w+>\\] .*${place(lineOf('freed.c', 'kmalloc(40)'))}`,
      'm',
    ),
  );
  expect(stdout).toMatch(
    new RegExp(`^Freed by task \\d+:\\n {2}\\[<\\w+>\\] .*${place(lineOf('freed.c', 'kfree(gone)'))}`, 'm'),
  );
  expect(stderr).toMatch(/^PROTOCOL: summer: dma-to-freed-memory: .*, by DMA$/m);
});

test('header, page and registers follow from the definition', () => {
  expect(cli('dev', 'header', 'summer.ts').stdout).toContain('#define SUMMER_STATUS_DONE 0x2u');
  expect(cli('dev', 'page', 'summer.ts').stdout).toContain('| 0x18 | 4 | `sum` | read |');
  expect(cli('dev', 'regs', 'summer.ts').stdout).toContain('0x73756d31');
});

test.each([
  ['export const a = 1 +;', /^kcovbox: device bad\.ts:1: Unexpected token\n$/],
  ['let hits = 0; export default {};', /variable hits is outside of "state"/],
  [
    "import { defineDevice } from 'kcovbox/device';\n\nvar a = { b: 1 }; export default defineDevice(\n" +
      "  { name: 'x', compatible: 'a,b', doc: 'd', registers: { r: { at: 0, access: 'r', doc: 'd' } } });",
    /variable a is/,
  ],
  [
    "import { defineDevice } from 'kcovbox/device'; export default defineDevice({ name: 'x' });",
    /^kcovbox: device bad\.ts:1: x: compatible is not a word, such as "vendor,device"$/m,
  ],
  ['enum A { x }; export default {};', /variable A is outside/],
  [
    'export default {\n  a: 1,\n  name: super.x };',
    /^kcovbox: device bad\.ts:3: 'super' keyword unexpected here\n$/,
  ],
  [
    'const seen: number[] = [1]; f(); seen.push(2); export default {}; function f() { let n = 1; n++; }',
    /^kcovbox: device bad\.ts: name is not/,
  ],
  ["import fs from 'node:fs'; export default fs;", /it imports node:fs; a device can import nothing/],
  ['export default { name: Date.now() };', /^kcovbox: device bad\.ts:1: Date is not defined\n$/],
  ['export default { name: "x" };', /^kcovbox: device bad\.ts: x: compatible is not a word/],
  ['', /^kcovbox: device bad\.ts: it exports no definition: its default is not an object\n$/],
  ['for (;;);', /^kcovbox: device bad\.ts: Script execution timed out/],
])('one line: %s', (text, line) => {
  writeFileSync(join(dir, 'bad.ts'), text);
  const { status, stderr } = cli('run', '--device', 'bad.ts', 'use.c');
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(status).toBe(125);
});

test('plain JavaScript; a constant cannot be memory either', () => {
  const text = (more: string): string => `import { defineDevice } from 'kcovbox/device';
const seen = { resets: [] };
const bits = (low, high) => (1 < low ? high > (0) : low);
export default defineDevice({
  name: 'plain', compatible: 'example,plain', doc: 'Plain.',
  registers: { id: { at: 0, access: 'r', reset: 7, doc: 'this is seven' } },
  onReset(dev) { ${more} },
});`;
  writeFileSync(join(dir, 'plain.mjs'), text('dev.reg.id += bits(1, 2)'));
  expect(cli('dev', 'regs', 'plain.mjs')).toMatchObject({
    stderr: '',
    status: 0,
    stdout: expect.stringContaining('0x8'),
  });
  writeFileSync(join(dir, 'plain.js'), text('seen.resets.push(1)'));
  expect(cli('dev', 'regs', 'plain.js')).toMatchObject({
    stderr: expect.stringMatching(/^kcovbox: .*plain.* object is not extensible\n$/),
    status: 125,
  });
});

test('a parameter that the device has not is an error for every verb', () => {
  for (const words of [
    ['dev', 'header', 'summer.ts,frob=1'],
    ['run', '--device', 'summer.ts,frob=1', 'use.c'],
  ])
    expect(cli(...words)).toMatchObject({
      status: 125,
      stdout: '',
      stderr: 'kcovbox: device summer.ts: summer has no parameter frob: latency, most\n',
    });
});

test.each([
  [['--fault', 'nothing:irq-drop'], /^kcovbox: fault of nothing: devices that can have faults are edu/],
  [['--device', 'none.ts'], /^kcovbox: .*none\.ts.*\n$/],
  [['--driver', 'none.c'], /^kcovbox: driver .*none\.c: there is no such file\n$/],
])('%j: one line', (options, line) => {
  const { status, stderr } = cli('run', ...options, 'use.c');
  expect(stderr).toMatch(line);
  expect(status).toBe(125);
});

/** Its fields grow, shrink, and hold what the state of no device of the board holds. */
const MOODY = `import { defineDevice } from 'kcovbox/device';
export default defineDevice({
  name: 'moody', compatible: 'test,moody', doc: 'Changes its state by itself.',
  registers: { rounds: { at: 0, access: 'r', doc: 'how often' } },
  state: { text: '', part: 0.5, list: [1, 2], nothing: null, map: {} },
  onReset: dev => dev.clock.after('tick', 1000),
  onAlarm: {
    tick(dev) {
      dev.reg.rounds++;
      dev.state.text += 'Äx ';
      dev.state.part /= 2;
      dev.state.list = dev.state.list.length > 2 ? [] : [[dev.state.part], null, 'A b'];
      dev.state.nothing = dev.state.nothing === null ? { a: true } : null;
      dev.state.map = { ...dev.state.map, [\`k\${dev.reg.rounds % 3}\`]: [dev.reg.rounds, {}] };
      dev.clock.after('tick', 1000);
    },
  },
});
`;

const DISK = ['--device', 'disk.ts', '--driver', 'disk.c'];

test.each([
  ['examples/disk', '1720000', DISK],
  ['a device of every kind of value', '800000', ['--device', 'moody.ts']],
  ['the same with faults', '800000', ['--device', 'moody.ts', '--fault', 'moody:irq-drop@5']],
  ['faults that happened', '1720000', [...DISK, '--fault', 'disk:read-stuck@4,dma-short@2,irq-late@1']],
  ['a hostile twin', '1720000', [...DISK, '--hostile', 'disk:0x17']],
  ['faults of a device of the board', '1500000', ['--fault', 'edu:irq-drop@2']],
])('a snapshot with %s goes on', (_, at, options) => {
  const folder = join(dir, 'goes-on');
  cpSync(join(ROOT, 'examples/disk'), folder, { recursive: true });
  writeFileSync(join(folder, 'moody.ts'), MOODY);
  const run = (...more: string[]) =>
    kcovbox(['run', ...options, '--result', 'r.json', ...more, 'use.c'], { cwd: folder });
  const hash = () => JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8')).stateHash;
  const through = run('--snapshot', 's.snap', '--snapshot-at', at);
  const end = hash();
  expect(through.stderr).not.toContain('not written');
  const resumed = run('--from', 's.snap');
  expect(resumed.stderr).toBe(through.stderr);
  expect([resumed.status, hash()]).toEqual([through.status, end]);
});

test.each([
  ['"list":', '"lists":', 'moody: its state has other fields than text, part, list, nothing, map'],
  [
    '"state":{',
    '"state":{"more":1,',
    'moody: its state has other fields than text, part, list, nothing, map',
  ],
  ['"rng":', '"rng":"x","r":', 'moody.registers has other fields'],
  ['"regs":{"rounds":[', '"regs":{"rounds":[1,', 'moody.registers.regs.rounds has 2 items'],
])('a snapshot with %s made %s is refused', (from, to, why) => {
  const folder = join(dir, 'goes-on');
  const file = join(folder, 'forged.snap');
  const run = (...more: string[]) =>
    kcovbox(['run', '--device', 'moody.ts', ...more, 'use.c'], { cwd: folder });
  run('--snapshot', file, '--snapshot-at', '800000');
  const [manifest, ...entries] = readZip(readFileSync(file), 1000).map(entry => {
    const text = new TextDecoder().decode(unpack(entry, HOST.inflate));
    const at = text.indexOf('"moody":{');
    if (entry.name !== 'state.json') return entry;
    expect(text.indexOf(from, at)).toBeGreaterThan(at);
    return pack(entry.name, new TextEncoder().encode(text.slice(0, at) + text.slice(at).replace(from, to)));
  });
  const head = JSON.parse(new TextDecoder().decode(unpack(manifest!, HOST.inflate))) as object;
  writeFileSync(file, writeSealed('snapshot.json', head, entries, HOST.sha256));
  expect(run('--from', file)).toMatchObject({
    status: 125,
    stderr: `kcovbox: snapshot ${file}: the snapshot is damaged: ${why}\n`,
  });
});

test('a device with an alarm in each unit of time: a signal ends the run in order', async () => {
  writeFileSync(
    join(dir, 'eager.ts'),
    `import { defineDevice } from 'kcovbox/device';
    export default defineDevice({
      name: 'eager', compatible: 'test,eager', doc: 'Never rests.',
      registers: { r: { at: 0, access: 'r', doc: 'd' } },
      onReset: dev => dev.clock.after('tick', 0),
      onAlarm: { tick: dev => dev.clock.after('tick', 0) },
    });`,
  );
  writeFileSync(join(dir, 'spin.c'), 'int main(void) { for (;;); }\n');
  const result = join(dir, 'eager.json');
  const child = spawn(
    process.execPath,
    [COMMAND, 'run', '--device', 'eager.ts', '--result', result, 'spin.c'],
    { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', text => void (said += text));
  await setTimeout(4000);
  child.kill('SIGINT');
  expect(await once(child, 'exit'), said).toEqual([130, null]);
  expect(said).toMatch(/^kcovbox: interrupted after [\d,]+ instructions$/m);
  expect(JSON.parse(readFileSync(result, 'utf8')).outcome).toBeDefined();
});

test('the texts of a device: names that collide are refused, a comment may have any word', () => {
  const device = (fields: string) => `import { defineDevice } from 'kcovbox/device';
    // Nothing of __proto__ is assigned to.
    export default defineDevice({
      name: 'twins', compatible: 'test,twins', doc: 'd',
      registers: {
        control: { at: 0, access: 'rw', doc: 'd', fields: { ${fields} } },
        control_mode: { at: 4, access: 'rw', doc: 'd' },
      },
    });`;
  const rdl = (fields: string) => {
    writeFileSync(join(dir, 'twins.ts'), device(fields));
    return cli('dev', 'rdl', 'twins.ts');
  };
  expect(rdl("other: { bits: 0, doc: 'd' }")).toMatchObject({ status: 0, stderr: '' });
  expect(rdl("mode: { bits: 0, doc: 'd' }").stderr).toBe(
    'kcovbox: device twins.ts: its header would have TWINS_CONTROL_MODE twice: ' +
      'rename a register, field or value\n',
  );
  expect(rdl("a: { bits: [0, 2], doc: 'd' }, b: { bits: 2, doc: 'd' }").stderr).toBe(
    'kcovbox: register control: fields a and b overlap, which SystemRDL cannot say\n',
  );
});
