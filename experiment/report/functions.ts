// Functions of the kernel in which the variants differ.
import { codeOf } from '../plan.ts';
import type { ExperimentPlan } from '../schema.ts';
import { median } from '../statistics/median.ts';
import type { Curve } from './curves.ts';
import { nameOf, type Places } from './places.ts';
import type { FunctionRow } from './shape.ts';

const ROWS_MAX = 100;

/** Those that the plan names, then those that differ most. */
export function functionRows(
  plan: ExperimentPlan,
  curves: ReadonlyMap<string, readonly Curve[]>,
  placesOf: (code: string) => Places,
): FunctionRow[] {
  const groups = plan.variants.map(variant => ({
    own: curves.get(variant.name)!,
    points: placesOf(codeOf(variant)).functionPoints,
  }));
  const keys = new Set(groups.flatMap(({ points }) => [...points.keys()]));
  const rows = [...keys].map((key): FunctionRow => {
    const variants = groups.map(({ own, points }) => {
      const covered = own.map(({ functions }) => functions.get(key) ?? 0);
      return {
        trials: covered.filter(count => count > 0).length,
        points: covered.length > 0 ? median(covered) : 0,
        total: points.get(key) ?? 0,
      };
    });
    const spread = (shares: readonly number[]): number => Math.max(...shares) - Math.min(...shares);
    const difference = Math.max(
      spread(variants.map(({ trials }, i) => trials / Math.max(1, groups[i]!.own.length))),
      spread(variants.map(({ points, total }) => points / Math.max(1, total))),
    );
    const isWanted = plan.functions.includes(nameOf(key));
    return { key, isWanted, variants, difference };
  });
  return rows
    .filter(({ isWanted, difference }) => isWanted || difference > 0)
    .sort(
      (a, b) =>
        Number(b.isWanted) - Number(a.isWanted) || b.difference - a.difference || (a.key < b.key ? -1 : 1),
    )
    .slice(0, ROWS_MAX);
}
