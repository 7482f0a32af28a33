// A search of schedules in worker threads. Each opens the program on its own: that costs a boot,
// and a snapshot of one machine cannot be of another thread.
import type { Tallied } from '../../run/many/tally.ts';
import {
  joined,
  type Part,
  partsOf,
  type Search,
  Searcher,
  type SearchOptions,
} from '../../run/schedules/search.ts';
import { dataOf, serve, Threads } from '../io/threads.ts';

type Progress = (done: number, all: number) => void;

/** In this thread, or in `jobs` more. The result is the same. Errors: as `Searcher.open`. */
export async function searchIn(jobs: number, options: SearchOptions, progress: Progress): Promise<Search> {
  const searcher = await Searcher.open(options);
  const parts = partsOf(options);
  const all = options.schedules.length * options.runs;
  let done = 0;
  const count = ({ from, to }: Part): void => progress((done += to - from), all);
  const runHere = async (): Promise<Tallied<bigint>[]> => {
    const results: Tallied<bigint>[] = [];
    for (const part of parts) {
      results.push(await searcher.run(part));
      count(part);
    }
    return results;
  };
  const runThere = async (): Promise<Tallied<bigint>[]> => {
    const threads = new Threads<Part, Tallied<bigint>>(
      'schedulesWorker',
      options,
      Math.min(jobs, parts.length),
    );
    try {
      return await threads.share(parts, count);
    } finally {
      await threads.close();
    }
  };
  const results = jobs === 1 || parts.length === 1 ? await runHere() : await runThere();
  return joined(searcher.facts, parts, results);
}

/** The body of a thread. */
export function serveParts(): void {
  const searcher = Searcher.open(dataOf<SearchOptions>());
  serve(async (part: Part) => (await searcher).run(part));
}
