// Which historical bugs the programs of a corpus reach, trigger and detect. Each program runs first
// on a kernel that has all bugs; a bug that crashes it hides the others, so it runs again without
// those that it has triggered, until it triggers no new one. Each bug that it has triggered is then
// switched on alone, and is detected if that run differs for the worse from one without bugs.

export interface Score {
  /** Programs by what they did to the bug, the first ones first. */
  readonly reached: string[];
  readonly triggered: string[];
  readonly detected: string[];
}

/** The bugs that a run has reached and triggered, by name. */
export interface Shown {
  readonly reached: readonly string[];
  readonly triggered: readonly string[];
}

/** The runs of programs on kernels with some bugs on. */
export interface Runs<R extends Shown> {
  with(program: string, bugs: readonly string[]): Promise<R>;
  /** Did the run with one bug end worse than the one without bugs? */
  isWorse(alone: R, without: R): boolean;
}

async function triggeredBy<R extends Shown>(
  program: string,
  ids: readonly string[],
  runs: Runs<R>,
  scores: ReadonlyMap<string, Score>,
): Promise<string[]> {
  const triggered = new Set<string>();
  for (let left = ids; left.length > 0; left = left.filter(id => !triggered.has(id))) {
    const before = triggered.size;
    const run = await runs.with(program, left);
    for (const id of run.reached) {
      const score = scores.get(id);
      if (score && score.reached.at(-1) !== program) score.reached.push(program);
    }
    for (const id of run.triggered) triggered.add(id);
    if (triggered.size === before) break;
  }
  return [...triggered];
}

/** `progress`: called before each program. */
export async function scoreCorpus<R extends Shown>(
  programs: readonly string[],
  ids: readonly string[],
  runs: Runs<R>,
  progress: (done: number) => void,
): Promise<Map<string, Score>> {
  const scores = new Map(ids.map(id => [id, { reached: [], triggered: [], detected: [] } as Score]));
  for (const [i, program] of programs.entries()) {
    progress(i);
    const triggered = await triggeredBy(program, ids, runs, scores);
    if (triggered.length === 0) continue;
    const without = await runs.with(program, []);
    for (const id of triggered) {
      const alone = await runs.with(program, [id]);
      scores.get(id)?.triggered.push(program);
      if (runs.isWorse(alone, without)) scores.get(id)?.detected.push(program);
    }
  }
  return scores;
}
