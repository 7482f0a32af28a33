// A search over recordings that anybody may have made, through bin/: each mutant ends as recorded, or with one line.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from '../../run/schema.ts';
import { isOneLine, kcovbox } from '../support/command.ts';
import { mutateJson } from '../support/mutate.ts';
import { Random, seedText } from '../support/random.ts';

/** A program that counts the bytes of its input and returns 5. */
export const SOURCE = `#include <stdio.h>
int main(void) { int c, n = 0; while ((c = getchar()) != EOF) n++; printf("%d\\n", n); return 5; }
`;

/** Records a run of SOURCE in `dir`; the recording is r.json there. */
export function record(dir: string): Recording {
  mkdirSync(join(dir, 'cwd'), { recursive: true });
  writeFileSync(join(dir, 'count.c'), SOURCE);
  const args = ['run', '--record', join(dir, 'r.json'), join(dir, 'count.c')];
  const { status, stdout, stderr } = kcovbox(args, { cwd: dir, input: 'hello\n' });
  if (status !== 5 || stdout !== '6\n' || stderr !== '') throw new Error(`status ${status}: ${stderr}`);
  return JSON.parse(readFileSync(join(dir, 'r.json'), 'utf8')) as Recording;
}

/** Replays `count` mutants of `good` in `dir`/cwd. Errors: the first that ends otherwise, or leaves a file. */
export function searchMutants(dir: string, good: Recording, seed: number, count: number): void {
  const random = new Random(seed);
  const cwd = join(dir, 'cwd');
  const path = join(dir, 'mutant.json');
  for (let i = 0; i < count; i++) {
    const mutant = JSON.stringify(mutateJson(good, random));
    writeFileSync(path, mutant);
    const { status, stderr } = kcovbox(['replay', path], { cwd, timeout: 120_000 });
    const last = `${stderr.trimEnd().split('\n').at(-1)}\n`;
    const isGood = (status === 125 || status === 5) && isOneLine(last) && !/internal error/.test(stderr);
    const left = readdirSync(cwd);
    if (!isGood || left.length > 0)
      throw new Error(
        `seed ${seedText(seed)}, mutant ${i}: status ${status}, files ${left}: ${stderr}\n${mutant}`,
      );
  }
}
