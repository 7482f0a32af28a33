// `kcovbox replay` of recordings that a stranger made: nothing in the file names an output, a flag or a program, and whatever
// it holds, the command ends with one line or with the recorded run.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Recording } from '../../run/schema.ts';
import { COMMAND, isOneLine, kcovbox, type Ran } from '../support/command.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { record, SOURCE, searchMutants } from './replay-search.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-replay-'));
const cwd = join(dir, 'cwd');
let good: Recording;

beforeAll(() => {
  good = record(dir);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function replay(recording: unknown, ...args: string[]): Ran {
  const path = join(dir, 'mutant.json');
  writeFileSync(path, typeof recording === 'string' ? recording : JSON.stringify(recording));
  return kcovbox(['replay', ...args, path], { cwd, timeout: 60_000 });
}

describe('a recording', () => {
  test('is the same run again, on either engine, after its program was edited', () => {
    writeFileSync(join(dir, 'count.c'), SOURCE.replace('return 5', 'return 6'));
    for (const engine of ['jit', 'interp']) {
      const { status, stdout, stderr } = replay(good, '--engine', engine);
      expect({ status, stdout }).toEqual({ status: 5, stdout: '6\n' });
      expect(stderr).toMatch(/^kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/);
    }
    const path = join(dir, 'mutant.json');
    const edited = kcovbox(['replay', path, join(dir, 'count.c')], { cwd });
    expect(edited).toMatchObject({ status: 125, stdout: '' });
    expect(edited.stderr).toMatch(
      /was recorded with another program: count sha256 .* bring it back as it was/,
    );
    writeFileSync(join(dir, 'count.c'), SOURCE);
    expect(kcovbox(['replay', path, join(dir, 'count.c')], { cwd }).status).toBe(5);
  });

  test('without the images of this machine asks for the program', () => {
    const { run } = good;
    const foreign = { ...good, run: { ...run, images: { ...run.images, initrd: '0'.repeat(64) } } };
    expect(replay(foreign)).toMatchObject({
      status: 125,
      stdout: '',
      stderr: expect.stringMatching(/give it, as in/),
    });
    const kernel = { ...run.images.kernel, sha256: '0'.repeat(64) };
    const other = { ...good, run: { ...run, images: { ...run.images, kernel } } };
    expect(replay(other).stderr).toMatch(/was recorded with another guest kernel: .*; give it with -k\n$/);
  });

  test('that ends elsewhere is told as another run, and no later than it should have ended', () => {
    const { outcome } = good;
    expect(replay({ ...good, outcome: { ...outcome, instret: 9 } }).stderr).toMatch(
      /not the run that was recorded: instret is \d+, was 9\n$/,
    );
    const short = { ...good, journal: [], outcome: { ...outcome, time: 1_000_000, instret: 1_000_000 } };
    expect(replay(short).stderr).toMatch(/the instruction budget is spent[\s\S]*end is budget, was exit/);
    const end = outcome.time + 1000;
    const entry = { at: end, port: 'uart', bytes: 'YQ==' };
    const journal = [...good.journal, ...new Array(1_000_000).fill(entry)];
    const { status, stderr } = replay({ ...good, outcome: { ...outcome, time: end }, journal });
    expect(status).toBe(125);
    expect(stderr).toMatch(/time is \d+, was \d+; 1000000 of 1000\d+ journal entries did not arrive\n$/);
  });

  const hostile: [string, (r: Recording) => unknown][] = [
    ['an output', r => ({ ...r, options: { result: 'evil', cover: 'evil' } })],
    ['an output of the run', r => ({ ...r, run: { ...r.run, result: 'evil' } })],
    [
      'a configuration that is none',
      r => ({ ...r, run: { ...r.run, kernel: { ...r.run.kernel, conf: 'linux+-Bevil' } } }),
    ],
    ['an engine', r => ({ ...r, run: { ...r.run, engine: 'rm' } })],
    ['a seed that is none', r => ({ ...r, run: { ...r.run, machine: { ...r.run.machine, seed: 'zz' } } })],
    ['version 1', r => ({ format: r.format, version: 1, program: 'evil.c', options: { cflags: '-B.' } })],
    ['half of itself', r => JSON.stringify(r).slice(0, 400)],
    ['nothing', () => ''],
    ['brackets', () => '['.repeat(1_000_000)],
    ['escapes', () => ({ format: 'kcovbox recording', version: '\u001b]0;evil\u0007' })],
    ['a field of escapes', r => ({ ...r, '\u001b[2J\u009b': 1 })],
  ];
  test.each(hostile)('with %s is refused in one line, and leaves no file', (_, make) => {
    const { status, stdout, stderr } = replay(make(good));
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toSatisfy(isOneLine);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('with flags in it does not hand them to a compiler', () => {
    const { run } = good;
    const cflags = ['-Wl,-Map=evil', '-B.', '-Xclang', '-dependency-file', '-Xclang', 'evil'];
    const { status } = replay({ ...good, run: { ...run, program: { ...run.program, cflags } } });
    expect(status).toBe(5);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('mutated at random ends as recorded, or with one line of ours', () => {
    searchMutants(dir, good, seedFromEnvironment(0x2ec02d), 25);
  });
});

test('a replay that is interrupted says so, and nothing about the run', async () => {
  writeFileSync(
    join(dir, 'loop.c'),
    '#include <unistd.h>\nint main(void) { write(1, "go\\n", 3); for (;;) ; }',
  );
  const path = join(dir, 'loop.json');
  kcovbox(['run', '--max-insns', '5000000', '--record', path, join(dir, 'loop.c')], { cwd: dir });
  const recording = JSON.parse(readFileSync(path, 'utf8')) as Recording;
  recording.run.budget = null;
  Object.assign(recording.outcome, { end: 'interrupted', status: 77, time: 1e12 });
  writeFileSync(path, JSON.stringify(recording));
  const child = spawn(process.execPath, [COMMAND, 'replay', path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', chunk => (said += chunk));
  child.stdout.once('data', () => child.kill('SIGTERM'));
  expect(await new Promise(done => child.once('close', done))).toBe(143);
  expect(said).toMatch(/^kcovbox: interrupted after [\d,]+ instructions\n$/);
});
