// `why` of the library against the command: the same capsule and options give the same answer.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run, type WhyOptions, type WhyPlace, why } from '../../library/node.ts';
import { whyFile } from '../../run/why/schema.ts';
import { recordBoot } from '../cli/replay-search.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { missing } from '../support/tools.ts';

describe.skipIf(missing('clang and lld', ASSEMBLER))('why', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-library-why-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  let lost: Uint8Array;

  beforeAll(async () => {
    const program = join(ROOT, 'examples', 'lost.c');
    for (let schedSeed = 1n; ; schedSeed++) {
      const one = await run(program, { harts: 2, schedSeed });
      if (one.status === 0 && schedSeed < 100n) continue;
      lost = one.capsule();
      writeFileSync(join(dir, 'lost.kcapsule'), lost);
      return;
    }
  });

  const CASES: readonly { options: WhyOptions; flags: readonly string[] }[] = [
    { options: { forks: 5, seed: 0x2an }, flags: ['--forks', '5', '--seed', '2a'] },
    {
      options: { forks: 5, failure: { console: /balance \d/g }, spread: 9000, engine: 'interp' },
      flags: ['--forks', '5', '--console', 'balance \\d', '--spread', '9000', '--engine', 'interp'],
    },
    {
      options: { failure: { status: 1 }, budget: 20_000_000 },
      flags: ['--status', '1', '--budget', '20000000'],
    },
  ];

  test.each(CASES)('has the answer of the command: $flags', async ({ options, flags }) => {
    const ran = kcovbox(['why', ...flags, '-o', 'why.json', 'lost.kcapsule'], { cwd: dir });
    expect([0, 124], ran.stderr).toContain(ran.status);
    const answer = await why(lost, options);
    expect(answer).toEqual(JSON.parse(readFileSync(join(dir, 'why.json'), 'utf8')));
    expect(whyFile.parse(answer)).toEqual(answer);
  });

  test('reports each fork, and ends by its signal', async () => {
    const places: WhyPlace[] = [];
    const stop = new AbortController();
    const searched = why(lost, {
      forks: 5,
      signal: stop.signal,
      onProgress: place => {
        places.push(place);
        if (places.length === 3) stop.abort(new Error('enough'));
      },
    });
    await expect(searched).rejects.toThrow('enough');
    expect(places.map(({ forks }) => forks)).toEqual([1, 2, 3]);
  });

  test('what cannot be is refused with one line', async () => {
    const input = (message: RegExp) =>
      expect.objectContaining({ kind: 'input', message: expect.stringMatching(message) });
    const well = join(dir, 'well.c');
    writeFileSync(well, 'int main(void) { return 0; }\n');
    const good = (await run(well)).capsule();
    await expect(why(good)).rejects.toEqual(input(/^why: the run ended with status 0 .* option failure$/));
    await expect(why(lost, { failure: { status: 9 } })).rejects.toEqual(
      input(/another end: not exit status 9$/),
    );
    await expect(why(new Uint8Array(9))).rejects.toEqual(input(/^the argument capsule is not a capsule/));
    await expect(why(recordBoot(dir))).rejects.toEqual(input(/is of kcovbox boot: kcovbox why takes it$/));
    for (const [options, message] of [
      [{ forks: 1 }, /options\.forks is 1, expected a whole number from 5 to 100000/],
      [{ failure: 'x' }, /options\.failure is "x", expected \{ console/],
      [{ failure: { console: /x/, status: 1 } }, /options\.failure/],
      [{ engine: 'lockstep' }, /options\.engine/],
      [{ seeds: 1n }, /seeds/],
    ] as const)
      await expect(why(lost, options as WhyOptions), String(message)).rejects.toEqual(input(message));
  });
});
