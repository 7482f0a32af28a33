// `kcovbox replay` and `kcovbox capsule`: the same run on any host. An untrusted capsule causes at
// most one line: it cannot name an output, a flag or a program.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CapsuleManifest } from '../../run/capsule/schema.ts';
import type { RunDescription } from '../../run/schema.ts';
import { assemble } from '../support/asm.ts';
import { withManifest, withPart } from '../support/capsule-mutants.ts';
import { COMMAND, isOneLine, kcovbox, type Ran } from '../support/command.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { record, recordBoot, SOURCE, searchInBatches, searchMutants } from './replay-search.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-replay-'));
const cwd = join(dir, 'cwd');
/** A cache in which no image of these runs is kept. */
const elsewhere = { KCOVBOX_CACHE: join(dir, 'cache') };
const SAME = /^kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/;
let good: Uint8Array;
let boot: Uint8Array;

beforeAll(() => {
  good = record(dir);
  boot = recordBoot(dir);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function replay(capsule: Uint8Array | string, ...args: string[]): Ran {
  const path = join(dir, 'mutant.kcapsule');
  writeFileSync(path, capsule);
  return kcovbox(['replay', ...args, path], { cwd, timeout: 60_000 });
}

type Manifest = CapsuleManifest & { run: RunDescription };
/** The capsule of the run with another manifest. */
const changed = (change: (manifest: Manifest) => unknown): Uint8Array =>
  withManifest(good, manifest => change(manifest as Manifest));

describe('a capsule', () => {
  test.each(['jit', 'interp', 'lockstep'])('is the same run again with %s, anywhere', engine => {
    const of = (name: string) =>
      kcovbox(['replay', '--engine', engine, join(dir, name)], { cwd, env: elsewhere });
    expect(of('r.kcapsule')).toEqual({ status: 5, stdout: '6\n', stderr: expect.stringMatching(SAME) });
    expect(of('b.kcapsule')).toEqual({ status: 5, stdout: 'abc\n', stderr: expect.stringMatching(SAME) });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('is checked at every link of the run hash with --verify', () => {
    expect(replay(good, '--verify')).toMatchObject({ status: 5, stderr: expect.stringMatching(SAME) });
    const other = changed(manifest => {
      manifest.outcome.runHash.links[0] = '0123456789abcdef';
      return manifest;
    });
    const { status, stdout, stderr } = replay(other, '--verify');
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toBe('kcovbox: the runs differ before their first instruction\n');
  });

  test('tells with --verify whether the engines differ where the recording does', () => {
    const path = join(dir, 'long.kcapsule');
    const source = 'int main(void) { for (volatile int i = 0; i < 3000000; i++) ; return 9; }\n';
    writeFileSync(join(dir, 'long.c'), source);
    expect(kcovbox(['run', '--record', path, join(dir, 'long.c')], { cwd }).status).toBe(9);
    const other = withManifest(readFileSync(path), manifest => {
      (manifest as Manifest).outcome.runHash.links[1] = '0123456789abcdef';
      return manifest;
    });
    const { status, stderr } = replay(other, '--verify');
    expect(status).toBe(125);
    const where = 'the runs are the same up to unit 0, and differ at unit 10000000';
    expect(stderr).toBe(
      `kcovbox: ${where}; comparing the engines there\n` +
        `kcovbox: ${where}; both engines agree there, and differ from the recording\n`,
    );
  });

  test('has the same bytes when the run is recorded again, with another engine', () => {
    const again = join(dir, 'again.kcapsule');
    const args = ['run', '--engine', 'interp', '--record', again, join(dir, 'count.c')];
    expect(kcovbox(args, { cwd, input: 'hello\n' }).status).toBe(5);
    expect(readFileSync(again).equals(good)).toBe(true);
  });

  test('gives coverage and a result like the run itself', () => {
    const outputs = ['--cover', join(dir, 'again.kcov'), '--result', join(dir, 'again.json')];
    const path = join(dir, 'r.kcapsule');
    expect(kcovbox(['replay', ...outputs, path], { cwd, env: elsewhere }).status).toBe(5);
    const result = JSON.parse(readFileSync(join(dir, 'again.json'), 'utf8')) as Manifest;
    const { manifest } = inside(path);
    expect({ run: result.run, outcome: result.outcome }).toEqual({
      run: manifest.run,
      outcome: manifest.outcome,
    });
    const refused = kcovbox(['replay', '--result', 'x.json', join(dir, 'b.kcapsule')], { cwd });
    expect(refused.stderr).toBe(
      'kcovbox: replay --result: the capsule is of kcovbox boot, which has no such output\n',
    );
  });

  test('gives exact coverage like the run itself, and says so where it recorded nothing', () => {
    const [program, path] = [join(dir, 'exact.c'), join(dir, 'exact.kcapsule')];
    writeFileSync(program, '#include <unistd.h>\nint main(void) { return getppid(); }\n');
    const [first, again, empty] = ['a.json', 'b.json', 'c.json'].map(name => join(dir, name)) as string[];
    const run = ['run', '--exact', '--cover', first!, '--record', path, '--test-name', 'x', program];
    const { status } = kcovbox(run, { cwd });
    expect(replay(readFileSync(path), '--exact', '--cover', again!, '--test-name', 'x').status).toBe(status);
    expect(readFileSync(again!)).toEqual(readFileSync(first!));
    expect(replay(readFileSync(path), '--cover', empty!).stderr).toContain(
      'has no records: the recorded program did not enable kcov; add --exact, or record it again with run ' +
        '--trace --cover',
    );
  });

  test('of boot has its drives and loader images; -no-reboot ends it at a reboot', () => {
    const reboot = 'li t0, 0x100000\nli t1, 0x7777\nsw t1, 0(t0)\n1: j 1b';
    writeFileSync(join(dir, 'reboot.elf'), assemble(reboot).bytes);
    writeFileSync(join(dir, 'disk.img'), Buffer.alloc(100_000, 'disk'));
    const path = join(dir, 'reboot.kcapsule');
    const board = ['-m', '16M', '-smp', '2', '-drive', 'file=disk.img,if=virtio,readonly=on'];
    const loads = ['-device', 'loader,addr=0x80800000,data=7,data-len=8', '-rtc', 'base=2001-02-03'];
    const args = ['boot', '-bios', 'none', '-kernel', 'reboot.elf', ...board, ...loads, '-no-reboot'];
    expect(kcovbox([...args, '--record', path], { cwd: dir }).status).toBe(0);
    const { parts } = inside(path).manifest;
    expect(parts.map(({ name }) => name).slice(3)).toEqual(['kernel.bin', 'load0.bin', 'drive0.bin']);
    const again = kcovbox(['replay', '--engine', 'lockstep', path], { cwd, env: elsewhere });
    expect(again).toEqual({ status: 0, stdout: '', stderr: expect.stringMatching(SAME) });
    const thin = join(dir, 'reboot-thin.kcapsule');
    expect(kcovbox([...args, '--thin', '--record', thin], { cwd: dir }).status).toBe(0);
    const given = kcovbox(['replay', thin, join(dir, 'disk.img')], { cwd });
    expect(given).toEqual({ status: 0, stdout: '', stderr: expect.stringMatching(SAME) });
  });

  test('made thin asks for its images, and takes only those', () => {
    const path = join(dir, 'thin.kcapsule');
    const thin = ['capsule', 'thin', '-o', path];
    expect(kcovbox([...thin, join(dir, 'r.kcapsule')], { cwd }).status).toBe(0);
    const recorded = join(dir, 'recorded-thin.kcapsule');
    const args = ['run', '--thin', '--record', recorded, join(dir, 'count.c')];
    expect(kcovbox(args, { cwd, input: 'hello\n' }).status).toBe(5);
    expect(readFileSync(recorded).equals(readFileSync(path))).toBe(true);
    expect(readFileSync(path).length).toBeLessThan(5000);

    writeFileSync(join(dir, 'count.c'), SOURCE.replace('return 5', 'return 6'));
    expect(kcovbox(['replay', path], { cwd }).status).toBe(5); // kept when it was recorded
    const edited = kcovbox(['replay', path, join(dir, 'count.c')], { cwd });
    expect(edited).toMatchObject({ status: 125, stdout: '' });
    expect(edited.stderr).toMatch(
      /was recorded with another program: count sha256 .* bring it back as it was/,
    );
    writeFileSync(join(dir, 'count.c'), SOURCE);
    expect(kcovbox(['replay', path, join(dir, 'count.c')], { cwd }).status).toBe(5);

    expect(kcovbox([...thin, join(dir, 'b.kcapsule')], { cwd }).status).toBe(0);
    const asked = kcovbox(['replay', path], { cwd, env: elsewhere });
    expect(asked.stderr).toMatch(
      /^kcovbox: kernel\.bin of .* is neither in it nor in the cache \(sha256 [0-9a-f]{16}\.\.\.\): give it, as in .*\n$/,
    );
    const other = kcovbox(['replay', path, join(dir, 'count.c')], { cwd, env: elsewhere });
    expect(other.stderr).toMatch(/count\.c is none of the images that .* was recorded with\n$/);
    expect(kcovbox(['replay', path, join(dir, 'echo.elf')], { cwd, env: elsewhere }).status).toBe(5);
  });

  test('that could not be read again is refused before the run, and one at the limits is not', () => {
    const run = join(dir, 'refused.kcapsule');
    const elf = join(dir, 'echo.elf');
    const long = 'a'.repeat(70_000);
    const record = (...options: string[]): Ran =>
      kcovbox(['boot', '-bios', 'none', '-nographic', '-kernel', elf, '--record', run, ...options], {
        cwd: dir,
        input: 'abc',
      });
    const refused = record('-append', long);
    expect(refused.stderr).toMatch(/^kcovbox: capsule .* cannot hold the run: run\.append: .*\n$/);
    expect({ stdout: refused.stdout, status: refused.status }).toEqual({ stdout: '', status: 125 });
    expect(existsSync(run)).toBe(false);
    const flags = kcovbox(['run', '--cflags', `-DX=${long}`, '--record', run, join(dir, 'count.c')], {
      cwd: dir,
    });
    expect(flags.stderr).toMatch(/cannot hold the run: run\.program\.cflags\.\d: .*\n$/);
    expect(existsSync(run)).toBe(false);
    record('-rtc', 'base=2300-01-01', '-m', '3G', '-device', 'loader,addr=0x120000000,data=1,data-len=8');
    expect(kcovbox(['replay', run], { cwd: dir }).stderr).toMatch(/the same run/);
  });

  test('that ends elsewhere is told as another run, with the first difference, and no later than it should', () => {
    const { outcome } = inside(join(dir, 'r.kcapsule')).manifest;
    const withOutcome = (change: object): Ran =>
      replay(changed(manifest => ({ ...manifest, outcome: { ...outcome, ...change } })));
    expect(withOutcome({ instret: 9 }).stderr).toMatch(
      /not the run that was recorded: instret is \d+, was 9\n$/,
    );
    const { interval, links } = outcome.runHash;
    const other = links.map((link, k) => (k === 1 ? 'ab'.repeat(8) : link));
    expect(withOutcome({ runHash: { interval, links: other } }).stderr).toMatch(
      /recorded: the runs are the same up to unit 0, and no more at 10000000\n$/,
    );
    // Intervals of one unit more: as many links, at other moments.
    expect(withOutcome({ runHash: { interval: interval + 1, links } }).stderr).toMatch(
      /the same run: .* chain not compared \(a link every 10000001 units\)\n$/,
    );
    expect(replay(withPart(boot, 'console.txt', Buffer.from('aXc\n'))).stderr).toMatch(
      /consoleHash is .*; the console differs from byte 1 on \(line 1\)\n$/,
    );
    const short = changed(manifest => ({
      ...manifest,
      outcome: { ...outcome, time: outcome.time - 1, instret: 1 },
    }));
    expect(replay(short).stderr).toMatch(/is not the run that was recorded: |is after the end of the run/);
    const kernel = readFileSync(join(dir, 'echo.elf'));
    // Reads more than three.
    kernel[kernel.indexOf(Buffer.from([0x93, 0x04, 0x30, 0x00]))! + 3] = 0x10;
    expect(replay(withPart(boot, 'kernel.bin', kernel)).status).toBe(125);
  });

  test('that another kcovbox has hashed in another way is compared without the hashes of the state', () => {
    const { stderr, status } = replay(changed(manifest => ({ ...manifest, stateHash: 'state-0' })));
    expect(status).toBe(5);
    expect(stderr).toMatch(/^kcovbox: the same run: [\d,]+ instructions, state not compared \(state-0\)\n$/);
  });

  const hostile: [string, () => Uint8Array | string][] = [
    ['an output', () => changed(m => ({ ...m, options: { result: 'evil', cover: 'evil' } }))],
    ['an output of the run', () => changed(m => ({ ...m, run: { ...m.run, result: 'evil' } }))],
    [
      'a configuration that is none',
      () => changed(m => ({ ...m, run: { ...m.run, kernel: { ...m.run.kernel, conf: 'linux+-Bevil' } } })),
    ],
    ['an engine', () => changed(m => ({ ...m, run: { ...m.run, engine: 'rm' } }))],
    [
      'a seed that is none',
      () => changed(m => ({ ...m, run: { ...m.run, machine: { ...m.run.machine, seed: 'zz' } } })),
    ],
    ['version 3', () => changed(m => ({ ...m, version: 3 }))],
    ['half of itself', () => good.subarray(0, good.length >> 1)],
    ['nothing', () => ''],
    ['a recording of old', () => '{"format":"kcovbox recording","version":2}'],
    ['another archive', () => readFileSync(COMMAND)],
    ['escapes', () => changed(m => ({ ...m, version: '\u001b]0;evil\u0007' }))],
    ['a field of escapes', () => changed(m => ({ ...m, '\u001b[2J\u009b': 1 }))],
  ];
  test.each(hostile)('with %s is refused in one line, and leaves no file', (_, make) => {
    const { status, stdout, stderr } = replay(make());
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toSatisfy(isOneLine);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('with flags in it does not hand them to a compiler', () => {
    const cflags = ['-Wl,-Map=evil', '-B.', '-Xclang', '-dependency-file', '-Xclang', 'evil'];
    const evil = changed(m => ({ ...m, run: { ...m.run, program: { ...m.run.program, cflags } } }));
    expect(replay(evil).status).toBe(5);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('mutated at random is the same run, or refused with one line', () => {
    searchMutants(dir, good, seedFromEnvironment(0x2ec02d), 2);
    searchMutants(dir, boot, seedFromEnvironment(0x2ec02e), 2);
    searchInBatches(dir, good, seedFromEnvironment(0x2ec02d), 8);
    searchInBatches(dir, boot, seedFromEnvironment(0x2ec02e), 60);
  });
});

/** The manifest of a capsule, as `capsule info --json` prints it. */
function inside(path: string): { manifest: Manifest } {
  return {
    manifest: JSON.parse(kcovbox(['capsule', 'info', '--json', path], { cwd: dir }).stdout) as Manifest,
  };
}

describe('kcovbox capsule', () => {
  const capsule = (...args: string[]): Ran => kcovbox(['capsule', ...args], { cwd: dir });

  test('info, verify and extract', () => {
    expect(capsule('info', 'r.kcapsule').stdout).toMatch(
      /^recorded by: {2}kcovbox [\d.]+ run\nprogram: {6}count\n[\s\S]*\n {2}kernel\.bin +[\d,]+ bytes {2}sha256/,
    );
    expect(capsule('verify', 'r.kcapsule')).toEqual({
      status: 0,
      stdout: 'r.kcapsule: every part is there and has its hash\n',
      stderr: '',
    });
    expect(capsule('extract', '-o', 'new/parts', 'b.kcapsule').status).toBe(0);
    expect(readFileSync(join(dir, 'new/parts/kernel.bin')).equals(readFileSync(join(dir, 'echo.elf')))).toBe(
      true,
    );
    expect(readFileSync(join(dir, 'new/parts/input.bin'), 'utf8')).toBe('abc');
    expect(readdirSync(join(dir, 'new/parts')).sort()).toEqual([
      ...['console.txt', 'input.bin', 'journal.jsonl', 'kernel.bin', 'manifest.json'],
    ]);
  });

  test('extract replaces nothing, and writes nothing of a capsule that is damaged', () => {
    expect(capsule('extract', '-o', 'new', 'b.kcapsule').stderr).toBe(
      'kcovbox: capsule extract: new is not empty; give a new folder with -o\n',
    );
    const half = boot.slice();
    half[half.length >> 1]! ^= 1;
    writeFileSync(join(dir, 'half.kcapsule'), half);
    expect(capsule('extract', '-o', 'half', 'half.kcapsule')).toMatchObject({ status: 125, stdout: '' });
    expect(existsSync(join(dir, 'half'))).toBe(false);
  });

  test('info shows control characters as text', () => {
    const append = 'a\u001b[2J\u009bb';
    const evil = changed(m => ({ ...m, run: { ...m.run, kernel: { ...m.run.kernel, append } } }));
    writeFileSync(join(dir, 'evil.kcapsule'), evil);
    for (const json of [[], ['--json']])
      expect(capsule('info', ...json, 'evil.kcapsule').stdout).toMatch(/^[^\p{Cc}]*(\n[^\p{Cc}]*)*$/u);
  });
});

test('a replay that is interrupted says so, and nothing about the run', async () => {
  writeFileSync(
    join(dir, 'loop.c'),
    '#include <unistd.h>\nint main(void) { write(1, "go\\n", 3); for (;;) ; }',
  );
  const path = join(dir, 'loop.kcapsule');
  kcovbox(['run', '--max-insns', '5000000', '--record', path, join(dir, 'loop.c')], { cwd: dir });
  const endless = withManifest(readFileSync(path), value => {
    const manifest = value as Manifest;
    Object.assign(manifest.outcome, { end: 'interrupted', status: 77, time: 1e12 });
    return { ...manifest, run: { ...manifest.run, budget: null } };
  });
  writeFileSync(path, endless);
  const child = spawn(process.execPath, [COMMAND, 'replay', path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', chunk => (said += chunk));
  child.stdout.once('data', () => child.kill('SIGTERM'));
  expect(await new Promise(done => child.once('close', done))).toBe(143);
  expect(said).toMatch(/^kcovbox: interrupted after [\d,]+ instructions\n$/);
});
