// Pairs of submissions that are alike: in their text, and in what their own tests make the kernel
// do.
import { type Submission, textOf } from '../../grade/judge/lab.ts';
import { alike, codePrint, type Likeness, TRACE_LEAST } from '../../grade/similarity.ts';
import type { Lab } from '../../host/lab/lab.ts';

export interface Alike {
  readonly code: readonly Likeness[];
  readonly coverage: readonly Likeness[];
}

const sourcesOf = (files: ReadonlyMap<string, Uint8Array>): string[] =>
  [...files].filter(([name]) => /\.[ch]$/.test(name)).map(([, bytes]) => textOf(bytes));

/**
 * Pairs that share at least `least` percent. `traced`: the submissions whose tests run; `prints`
 * answers with their fingerprints, in their order.
 */
export async function alikeOf(
  lab: Lab,
  submissions: readonly Submission[],
  traced: readonly Submission[],
  least: number,
  prints: (submissions: readonly Submission[]) => Promise<readonly Set<number>[]>,
): Promise<Alike> {
  const codes = new Map(submissions.map(({ name, files }) => [name, codePrint(sourcesOf(files))]));
  const code = alike(codes, codePrint(sourcesOf(lab.starter)), least);
  if (traced.length < 2) return { code, coverage: [] };
  const starter = { ...traced[0]!, files: lab.starter };
  const [given, ...own] = await prints([starter, ...traced]);
  const named = new Map(traced.map(({ name }, i) => [name, own[i]!]));
  return { code, coverage: alike(named, given!, least, TRACE_LEAST) };
}
