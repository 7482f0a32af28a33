// The debugger computes what C does: random expressions beside clang's code.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { searchExpressions } from './search/expressions.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-expressions-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const seed = seedFromEnvironment(0xe8b);

test.skipIf(missing('clang and lld', ASSEMBLER))(`400 expressions, seed ${seedText(seed)}`, async () => {
  expect(await searchExpressions(dir, new Random(seed), 400)).toEqual([]);
});
