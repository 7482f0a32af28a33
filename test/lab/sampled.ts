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

/** Instructions of a run in a class: programs without an end are the larger part of its time. */
export const CLASS_BUDGET = 60_000_000;

/**
 * Copies a lab into a folder below `parent`, which is named as the lab; its path. `budget`: of each
 * run at most.
 */
export function sampledLab(word: string, parent: string, budget = Number.POSITIVE_INFINITY): string {
  const { name, folder, mutants } = openLab(word);
  const copy = join(parent, name);
  if (existsSync(copy)) return copy;
  cpSync(folder, copy, { recursive: true });
  const path = join(copy, 'lab.json');
  const manifest: LabManifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.budget = Math.min(manifest.budget, budget);
  for (const check of manifest.checks) {
    if ('budget' in check && check.budget) check.budget = Math.min(check.budget, budget);
    if (check.kind === 'sweep') check.seeds = Math.min(check.seeds, SEEDS);
    if (check.kind === 'mutants') check.need = Math.min(check.need, MUTANTS);
  }
  const some = Object.fromEntries(Object.entries(mutants).map(([id, names]) => [id, spread(names)]));
  writeFileSync(path, JSON.stringify(manifest));
  writeFileSync(join(copy, 'mutants.json'), JSON.stringify(some));
  return copy;
}
