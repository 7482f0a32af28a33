// `run --snapshot` and `run --from`: a run that goes on in a new process, on the other engine, has
// the result of a run that nobody saved. At random moments of the boot, of kcov sections, of DMA.
// KCOVBOX_SEED, KCOVBOX_PROGRAMS.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { openSnapshot } from '../../host/snapshot-file.ts';
import { writeSealed } from '../../run/capsule/seal.ts';
import { pack, readZip, unpack } from '../../run/capsule/zip.ts';
import { HOST } from '../run/sample.ts';
import { kcovbox } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SEED = seedFromEnvironment(0x54a);
const MOMENTS = Number(process.env['KCOVBOX_PROGRAMS'] || 1);
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-snapshot-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const HELLO = join(ROOT, 'examples', 'hello.c');
const at = (name: string): string => join(dir, name);
const run = (...args: string[]) => kcovbox(['run', ...args], { cwd: dir, timeout: 100_000 });
/** The facts of a result, without the host's. */
function facts(name: string): { outcome: { instret: number; time: number } } {
  const { host, ...rest } = JSON.parse(readFileSync(at(name), 'utf8'));
  return rest;
}

/** Units of a moment, by engines. */
const marks = new Set<number>();

const CASES = [
  ['openbsd', 1, 'remote_collects_a_device'],
  ['linux', 2, 'a_common_handle_collects_a_device'],
  ['netbsd', 4, 'mailbox_collects_the_port'],
] as const;

describe('a run that goes on from a snapshot', () => {
  test.each(CASES)('%s, %i harts: has the result of the whole run', (dialect, smp, name) => {
    const program = join(ROOT, 'guest-programs', 'kcov-conformance', `${dialect}-behaviour.c`);
    const guest = ['--dialect', dialect, '--smp', `${smp}`, program, '--', name];
    expect(run('--result', at('whole.json'), ...guest).status).toBe(0);
    const whole = facts('whole.json');
    const random = new Random(SEED + smp);
    for (let i = 0; i < MOMENTS; i++) {
      const moment = 1 + random.below(whole.outcome.instret - 1);
      const [first, second] = random.oneIn(2) ? ['jit', 'interp'] : ['interp', 'jit'];
      const place = ['--snapshot', at('s.ksnap'), '--snapshot-at', `${moment}`];
      const note = `unit ${moment} of seed ${seedText(SEED)}`;
      expect(run('--engine', first!, ...place, '--result', at('saved.json'), ...guest).status, note).toBe(0);
      const on = ['--engine', second!, '--from', at('s.ksnap'), '--result', at('on.json')];
      expect(run(...on, ...guest).status, note).toBe(0);
      expect(facts('saved.json'), note).toEqual(whole);
      expect(facts('on.json'), note).toEqual(whole);
    }
  });

  test.each(['jit', 'interp', 'lockstep'])('starts behind a marker of the guest (%s)', engine => {
    const source = `#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int fd = open("/dev/marker", O_WRONLY);
  puts("one");
  fflush(stdout);
  for (int i = 1; i <= 3; i++) dprintf(fd, "%d\\n", i);
  puts("two");
  return write(fd, "x", 1) < 0 && write(fd, "65536", 5) < 0 ? 7 : 1;
}
`;
    writeFileSync(at('marks.c'), source);
    const place = (moment: string) => ['--snapshot', at(`${moment}.ksnap`), '--snapshot-at', moment];
    const guest = ['--engine', engine, '-m', '32M', at('marks.c')];
    const saved = run(...place('marker:2'), '--result', at('whole.json'), ...guest);
    expect(saved).toEqual({ status: 7, stdout: 'one\ntwo\n', stderr: '' });
    const on = run('--from', at('marker:2.ksnap'), '--result', at('on.json'), ...guest);
    expect(on).toEqual({ status: 7, stdout: 'two\n', stderr: '' });
    expect(facts('on.json')).toEqual(facts('whole.json'));
    expect(run(...place('marker'), ...guest).stderr).toBe('');
    const units = (name: string): number => openSnapshot(at(`${name}.ksnap`)).manifest.units;
    expect(units('marker')).toBeLessThan(units('marker:2'));
    marks.add(units('marker:2'));
    expect(marks.size).toBe(1); // the same unit on every engine
    const late = run(...place('marker:9'), ...guest);
    expect(late).toMatchObject({ status: 125, stdout: 'one\ntwo\n' });
    expect(late.stderr).toMatch(/was not written: the run ended at unit \d+, before marker 9\n$/);
  });

  test.each(['jit', 'lockstep'])('starts in front of the first instruction of the program (%s)', engine => {
    const engines = ['--engine', engine];
    const saved = run(...engines, '--snapshot', at('first.ksnap'), '--result', at('whole.json'), HELLO);
    expect(saved.stderr).toBe('');
    const on = run(...engines, '--from', at('first.ksnap'), '--result', at('on.json'), HELLO);
    expect(on).toEqual({ status: 0, stdout: 'hello, world, from a riscv64 machine\n', stderr: '' });
    expect(facts('on.json')).toEqual(facts('whole.json'));
  });
});

describe('--from', () => {
  test('keeps a CR that was the last byte before the snapshot', () => {
    const wait = 'for (volatile int i = 0; i < 1000000; i++) ;';
    const source = `int main(void) { write(1, "a\\r", 2); ${wait} write(1, "b\\n", 2); return 0; }\n`;
    writeFileSync(at('cr.c'), `#include <unistd.h>\n${source}`);
    expect(run('--result', at('whole.json'), at('cr.c')).stdout).toBe('a\rb\n');
    const whole = facts('whole.json');
    const moment = ['--snapshot-at', `${whole.outcome.instret - 2_000_000}`];
    expect(run('--snapshot', at('cr.ksnap'), ...moment, at('cr.c')).stdout).toBe('a\rb\n');
    expect(run('--from', at('cr.ksnap'), '--result', at('on.json'), at('cr.c')).stdout).toBe('\rb\n');
    expect(facts('on.json')).toEqual(whole);
  });

  test('refuses a snapshot of another run, and says what differs', () => {
    expect(run('--snapshot', at('hello.ksnap'), HELLO).status).toBe(0);
    const refused = (...args: string[]): string => {
      const { status, stdout, stderr } = run('--from', at('hello.ksnap'), ...args);
      expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
      expect(stderr).toMatch(/^kcovbox: [^\n]*\n$/);
      return stderr;
    };
    expect(refused('--smp', '2', HELLO)).toMatch(
      /of another run: --smp is 2, was 1; give the program, kernel and options of that run$/m,
    );
    expect(refused('--exact', '--cover', at('x.info'), HELLO)).toMatch(/--from with --exact: /);
    expect(refused(join(ROOT, 'examples', 'factorial.c'))).toMatch(
      /of another run: program\.argv is \["factorial"\], was \["hello"\]; give /,
    );
    const bytes = readFileSync(at('hello.ksnap'));
    // Only the machine can refuse a value whose checksums are right.
    const entries = readZip(bytes, 1000).map(entry => {
      if (entry.name !== 'state.json') return entry;
      const state = new TextDecoder().decode(unpack(entry, HOST.inflate));
      return pack(entry.name, new TextEncoder().encode(state.replace('"uart":{', '"uart":{"x":1,')));
    });
    const manifest = JSON.parse(new TextDecoder().decode(unpack(entries[0]!, HOST.inflate))) as object;
    writeFileSync(at('hello.ksnap'), writeSealed('snapshot.json', manifest, entries.slice(1), HOST.sha256));
    expect(refused(HELLO)).toBe(
      `kcovbox: snapshot ${at('hello.ksnap')}: the snapshot is damaged: uart has other fields\n`,
    );
    bytes[bytes.length >> 1]! ^= 4;
    writeFileSync(at('hello.ksnap'), bytes);
    expect(refused(HELLO)).toMatch(/^kcovbox: snapshot \S+ is damaged: /);
    writeFileSync(at('hello.ksnap'), 'hello');
    expect(refused(HELLO)).toMatch(/is not a snapshot; make one with --snapshot$/m);
  });

  test.skipIf(!existsSync('/dev/full'))('a snapshot that cannot be written does not end the run', () => {
    const { status, stdout, stderr } = run('--snapshot', '/dev/full', '--result', at('full.json'), HELLO);
    expect(stderr).toBe('kcovbox: cannot write /dev/full: no space left on the device\n');
    expect({ status, stdout }).toMatchObject({ status: 125, stdout: expect.stringContaining('hello') });
    expect(facts('full.json').outcome.instret).toBeGreaterThan(0);
  });

  test('says that the moment never came', () => {
    const late = ['--snapshot', at('late.ksnap'), '--snapshot-at', '900000000'];
    const { status, stdout, stderr } = run(...late, '--result', at('late.json'), HELLO);
    expect({ status, file: existsSync(at('late.ksnap')) }).toEqual({ status: 125, file: false });
    expect(stdout).toMatch(/^hello/);
    const { outcome } = facts('late.json');
    expect(stderr).toBe(
      `kcovbox: snapshot ${at('late.ksnap')} was not written: the run ended at unit ${outcome.time}, before unit 900000000\n`,
    );
  });
});
