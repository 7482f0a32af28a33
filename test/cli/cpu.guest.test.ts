// run --cpu: the extensions of the harts, through the command, into the result and the recording.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_EXTENSIONS, type Extensions, RVA22_EXTENSIONS } from '../../emulator/index.ts';
import { kcovbox } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-cpu-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SIGILL = 128 + 4;

/** Those that a description lists where they are present (run/extensions.ts). */
const listed = (all: Extensions): string[] => [...all].filter(name => name !== 'zihpm').sort();

/** `czero.eqz` of Zicond answers 5, or is illegal. */
beforeAll(() =>
  writeFileSync(
    join(dir, 'zicond.c'),
    `int main(void) {
       long answer;
       __asm__ volatile(".insn r 0x33, 5, 7, %0, %1, %2" : "=r"(answer) : "r"(5L), "r"(1L));
       return (int)answer;
     }`,
  ),
);

const run = (...more: string[]) => kcovbox(['run', ...more, 'zicond.c'], { cwd: dir, input: '' });

/** The run of a result file. */
function resultOf(cpu: string | undefined): { status: number | null; runId: string; extensions: string[] } {
  const { status } = run(...(cpu === undefined ? [] : ['--cpu', cpu]), '--result', 'result.json');
  const { runId, run: description } = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'));
  return { status, runId, extensions: description.machine.extensions };
}

test('the harts of a run have the extensions of --cpu, and its description names them', () => {
  const plain = resultOf(undefined);
  expect(plain).toMatchObject({ status: SIGILL, extensions: listed(DEFAULT_EXTENSIONS) });
  expect(resultOf('rv64')).toEqual(plain);
  const profile = resultOf('rva22s64');
  expect(profile).toMatchObject({ status: SIGILL, extensions: listed(RVA22_EXTENSIONS) });
  const switched = resultOf('rv64,zicond=on');
  expect(switched).toMatchObject({ status: 5, extensions: [...listed(DEFAULT_EXTENSIONS), 'zicond'].sort() });
  expect(resultOf('rv64,zba=on,zicond=true')).toEqual(switched);
  expect(resultOf('max').status).toBe(5);
  expect(new Set([plain.runId, profile.runId, switched.runId]).size).toBe(3);
}, 90_000);

test('a replay has the extensions of its recording', () => {
  expect(run('--cpu', 'rva22s64,zicond=on', '--record', 'r.json').status).toBe(5);
  const again = kcovbox(['replay', '--engine', 'interp', 'r.json'], { cwd: dir });
  expect(again.stderr).toContain('the same run');
  expect(again.status).toBe(5);
}, 60_000);

test('a hart without zihpm is another run, which can be replayed', () => {
  const recorded = ['--cpu', 'rv64,zihpm=off,zicond=on', '--record', 'h.kcov', '--result', 'result.json'];
  expect(run(...recorded).status).toBe(5);
  const { runId, run: description } = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'));
  expect(description.machine.without).toEqual(['zihpm']);
  expect(runId).not.toBe(resultOf('rv64,zicond=on').runId);
  const again = kcovbox(['replay', '--engine', 'interp', 'h.kcov'], { cwd: dir });
  expect(again.stderr).toContain('the same run');
}, 60_000);

test.each([
  ['rv65', /unknown model "rv65"; known are rv64, rva22s64, max/],
  ['rv64,v=on', /v does not exist here: vectors are the next step/],
  ['rv64,zba', /"zba" must be NAME=on or NAME=off/],
  ['rv64,i=off', /i is always on/],
  ['rv64,zicntr=off', /zicntr is always on/],
])('--cpu %s is refused in one line', (cpu, why) => {
  const ran = run('--cpu', cpu);
  expect(ran.status).toBe(125);
  expect(ran.stderr).toMatch(why);
  expect(ran.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
});
