// Recordings that anybody may have made: what is accepted has the shape of its schema, everything else is refused in one
// line that names the field, in bounded time.
import { describe, expect, it } from 'vitest';
import { FormatError, readRecording } from '../../run/read.ts';
import { recording } from '../../run/schema.ts';
import { mutateJson } from '../support/mutate.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { SAMPLE } from './sample.ts';

/** The sample with one field replaced; undefined removes it. */
function changed(path: string, value: unknown): unknown {
  const copy = structuredClone(SAMPLE) as unknown as Record<string, unknown>;
  const keys = path.split('.');
  let at = copy;
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[keys.at(-1)!];
  else at[keys.at(-1)!] = value;
  return copy;
}

/** The short dose; `npm run test:slow` mutates more of them, through the command. */
const MUTANTS = Number(process.env['KCOVBOX_MUTANTS'] ?? 1500);
const ENTRIES = 250_000;

describe('a recording', () => {
  it('is read', () => {
    const { head, journal } = readRecording(structuredClone(SAMPLE));
    expect({ ...head, journal }).toEqual(SAMPLE);
  });

  it.each<[string, unknown, RegExp]>([
    ['format', 'kcovbox run', /^is not a recording/],
    ['version', 1, /^has version 1; .* record the run again$/],
    ['version', '3', /^has version 3/],
    ['options', { result: '/etc/passwd' }, /"options"/],
    ['run.cover', 'x.html', /"cover"/],
    ['run.program.path', '/bin/sh', /run\.program: .*"path"/],
    ['run.images.kernel.path', '/dev/zero', /run\.images\.kernel: .*"path"/],
    ['run.images.initrd', '../../../etc/passwd', /run\.images\.initrd/],
    ['run.kernel.conf', '../../evil', /run\.kernel\.conf/],
    ['run.kernel.conf', 'linux CC=evil', /run\.kernel\.conf/],
    ['run.kernel.conf', 'kasan+ubsan', /run\.kernel\.conf: expected a configuration of/],
    ['run.kernel.conf', 'openbsd+linux', /run\.kernel\.conf: expected a configuration of/],
    ['run.kernel.append', 'x'.repeat(1 << 17), /run\.kernel\.append/],
    ['run.machine.seed', 'zz', /run\.machine\.seed/],
    ['run.machine.seed', '0x1ffffffffffffffff', /run\.machine\.seed/],
    ['run.machine.harts', 0, /run\.machine\.harts/],
    ['run.machine.harts', 1.5, /run\.machine\.harts/],
    ['run.machine.memory', 2 ** 40, /run\.machine\.memory/],
    ['run.machine.memory', 2 ** 24 + 1, /run\.machine\.memory/],
    ['run.machine.kcov', 'evil', /run\.machine\.kcov/],
    ['run.machine.icountShift', undefined, /run\.machine\.icountShift/],
    ['run.machine.icountShift', 11, /run\.machine\.icountShift/],
    ['run.machine.icountShift', 0.5, /run\.machine\.icountShift/],
    ['run.input.rule', 'other', /run\.input\.rule/],
    ['run.input.endAt', -1, /run\.input\.endAt/],
    ['run.budget', 0.5, /run\.budget/],
    ['run.budget', '7', /run\.budget/],
    ['outcome.end', 'crash', /outcome\.end/],
    ['outcome.time', 1e300, /outcome\.time/],
    ['outcome.status', 256, /outcome\.status/],
    ['outcome.instret', undefined, /outcome\.instret/],
    ['journal', undefined, /journal: expected an array/],
    ['journal', {}, /journal: expected an array/],
    ['journal.0', null, /journal\.0/],
    ['journal.0.at', 0.5, /journal\.0\.at/],
    ['journal.0.at', '10', /journal\.0\.at/],
    ['journal.1.at', 9, /journal\.1\.at: 9 is before/],
    ['journal.2.at', 2001, /journal\.2\.at: 2001 is after the end/],
    ['journal.0.port', 'disk', /journal\.0\.port/],
    ['journal.0.bytes', '!', /journal\.0\.bytes/],
    ['journal.1.bytes', 'aGk=', /journal\.1\.bytes: expected rows and columns/],
    ['journal.2.bytes', 'aGk=', /journal\.2\.bytes: a break has none/],
    ['run.machine.devices', [], /journal\.1\.port: the machine has no virtio console/],
  ])('with %s = %j is refused', (path, value, message) => {
    expect(() => readRecording(changed(path, value))).toThrow(message);
  });

  it.each([null, 7, 'text', [], {}, true])('is not %j', value => {
    expect(() => readRecording(value)).toThrow(FormatError);
  });

  it('names the first fault only, whatever their number', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]));
    for (const value of [
      { ...SAMPLE, ...many },
      { ...SAMPLE, journal: new Array(ENTRIES).fill({ at: 'x' }) },
    ])
      try {
        readRecording(value);
        expect.unreachable();
      } catch (error) {
        expect((error as Error).message.length).toBeLessThan(250);
      }
  });

  it('with very many entries is read whole', () => {
    const journal = Array.from({ length: ENTRIES }, (_, i) => ({ at: i, port: 'uart', bytes: 'YQ==' }));
    const { outcome } = SAMPLE;
    const value = { ...SAMPLE, outcome: { ...outcome, time: ENTRIES }, journal };
    expect(readRecording(value).journal.length).toBe(ENTRIES);
  });

  it('is either refused with one line or follows the schema, however it was mutated', () => {
    const seed = seedFromEnvironment(0x5ec0de);
    const random = new Random(seed);
    let accepted = 0;
    for (let i = 0; i < MUTANTS; i++) {
      const mutant = mutateJson(SAMPLE, random);
      const text = JSON.stringify(mutant);
      try {
        const { head, journal } = readRecording(JSON.parse(text));
        recording.parse({ ...head, journal });
        accepted++;
      } catch (error) {
        const isRefusal = error instanceof FormatError && error.message.length < 250;
        if (!isRefusal)
          throw new Error(`seed ${seedText(seed)}, mutant ${i}: ${text.slice(0, 500)}`, { cause: error });
      }
    }
    expect(accepted).toBeGreaterThan(MUTANTS / 100); // mutants that reach the machine
    expect(accepted).toBeLessThan(MUTANTS / 2);
  });
});
