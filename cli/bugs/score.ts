// Which historical bugs the programs of a corpus reach, trigger and detect. Each program runs first
// on a kernel that has all bugs; a bug that crashes it hides the others, so it runs again without
// those that it has triggered, until it triggers no new one. Each bug that it has triggered is then
// switched on alone, and is detected if that run differs for the worse from one without bugs.
import type { BugOutcome } from '../../run/bugs/outcome.ts';
import { isBad, judge } from '../../run/faults/outcome.ts';

export interface Score {
  /** Programs by what they did to the bug, the first ones first. */
  readonly reached: string[];
  readonly triggered: string[];
  readonly detected: string[];
}

export type RunWith = (program: string, bugs: readonly string[]) => Promise<BugOutcome>;

async function triggeredBy(
  program: string,
  ids: readonly string[],
  runWith: RunWith,
  scores: ReadonlyMap<string, Score>,
): Promise<string[]> {
  const triggered = new Set<string>();
  for (let left = ids; left.length > 0; left = left.filter(id => !triggered.has(id))) {
    const before = triggered.size;
    const { canaries } = await runWith(program, left);
    for (const { id, reached, triggered: times } of canaries) {
      const score = scores.get(id);
      if (reached > 0 && score && score.reached.at(-1) !== program) score.reached.push(program);
      if (times > 0) triggered.add(id);
    }
    if (triggered.size === before) break;
  }
  return [...triggered];
}

/** `progress`: called before each program. */
export async function scoreCorpus(
  programs: readonly string[],
  ids: readonly string[],
  runWith: RunWith,
  progress: (done: number) => void,
): Promise<Map<string, Score>> {
  const scores = new Map(ids.map(id => [id, { reached: [], triggered: [], detected: [] } as Score]));
  for (const [i, program] of programs.entries()) {
    progress(i);
    const triggered = await triggeredBy(program, ids, runWith, scores);
    if (triggered.length === 0) continue;
    const without = await runWith(program, []);
    for (const id of triggered) {
      const alone = await runWith(program, [id]);
      const { outcome } = judge(alone.ended, without.ended);
      scores.get(id)!.triggered.push(program);
      if (isBad(outcome) || outcome === 'error') scores.get(id)!.detected.push(program);
    }
  }
  return scores;
}
