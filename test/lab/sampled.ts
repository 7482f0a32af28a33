// Labs as `npm test` judges them: with some of their mutants and of their schedule seeds. The slow
// test judges each lab as it is.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabManifest } from '../../grade/schema.ts';
import { openLab } from '../../host/lab/lab.ts';

/** Of a check. */
const MUTANTS = 3;
export const SEEDS = 12;

/** Items of a list, from all parts of it. */
const spread = (list: readonly string[]): string[] =>
  list.length <= MUTANTS
    ? [...list]
    : Array.from({ length: MUTANTS }, (_, i) => list[Math.floor((i * (list.length - 1)) / (MUTANTS - 1))]!);

/** Copies a lab into a folder below `parent`, which is named as the lab; its path. */
export function sampledLab(word: string, parent: string): string {
  const { name, folder, mutants } = openLab(word);
  const copy = join(parent, name);
  if (existsSync(copy)) return copy;
  cpSync(folder, copy, { recursive: true });
  const path = join(copy, 'lab.json');
  const manifest: LabManifest = JSON.parse(readFileSync(path, 'utf8'));
  for (const check of manifest.checks) {
    if (check.kind === 'sweep') check.seeds = Math.min(check.seeds, SEEDS);
    if (check.kind === 'mutants') check.need = Math.min(check.need, MUTANTS);
  }
  const some = Object.fromEntries(Object.entries(mutants).map(([id, names]) => [id, spread(names)]));
  writeFileSync(path, JSON.stringify(manifest));
  writeFileSync(join(copy, 'mutants.json'), JSON.stringify(some));
  return copy;
}
