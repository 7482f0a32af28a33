/**
 * `--exact` counts the same with either engine: all test programs and kcov clients, on 1 and 4
 * harts. See exact.guest.test.ts.
 */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../toolchain/index.ts';
import { type ExactRun, exactOf } from './exact.ts';
import { missing } from './support.ts';

const reason = missing('exact counts of both engines', 'clang-19', 'ld.lld-19');
const ROOT = resolve(import.meta.dirname, '../../guest-programs');
/** Programs that want arguments, a disk or another kernel. */
const OTHERS = new Set(['disk.c', 'fail-nth.c', 'fuzz.c', 'leaks.c', 'provoke.c', 'stress.c']);

function* runs(): Generator<[string, ExactRun]> {
  let turn = 0;
  for (const name of readdirSync(`${ROOT}/tests`).sort()) {
    if (!name.endsWith('.c') || OTHERS.has(name)) continue;
    // Each program on two of the four kernels, which share almost all code.
    for (const harts of [1, 4])
      yield [`tests/${name}`, { dialect: DIALECTS[turn++ % DIALECTS.length]!, harts }];
  }
  for (const name of readdirSync(ROOT).sort()) {
    const dialect = DIALECTS.find(one => name.startsWith(one));
    if (dialect && name.endsWith('.c')) for (const harts of [1, 4]) yield [name, { dialect, harts }];
  }
}

describe.skipIf(reason)('both engines count the same', () => {
  it.each([...runs()])('%s %j', async (name, options) => {
    const { ran, differences, console } = await exactOf(resolve(ROOT, name), options);
    expect(differences, console).toEqual([]);
    expect(ran).toBeGreaterThan(5000);
  });
});
