// Counts of the outcomes of many runs of a program, each with a seed, and the different failures
// among them.
import { type Judged, kindOf, type Outcome } from './outcome.ts';

/** Failed runs with the same outcome and the same line. */
export interface Find<Seed> extends Judged {
  readonly firstSeed: Seed;
  runs: number;
}

/** Plain data. */
export interface Tallied<Seed> {
  readonly counts: Readonly<Record<Outcome, number>>;
  /** In the order of their first runs. */
  readonly finds: readonly Find<Seed>[];
}

export class Tally<Seed> implements Tallied<Seed> {
  readonly counts: Record<Outcome, number> = { ok: 0, other: 0, error: 0, hang: 0, report: 0, panic: 0 };
  readonly #isFailure: (outcome: Outcome) => boolean;
  readonly #most: number;
  readonly #finds = new Map<string, Find<Seed>>();

  /** Keeps at most so many different failures. */
  constructor(isFailure: (outcome: Outcome) => boolean, most: number) {
    this.#isFailure = isFailure;
    this.#most = most;
  }

  get finds(): readonly Find<Seed>[] {
    return [...this.#finds.values()];
  }

  /** In the order of the seeds. */
  add(judged: Judged, seed: Seed): void {
    this.counts[judged.outcome]++;
    if (this.#isFailure(judged.outcome)) this.#find({ ...judged, firstSeed: seed, runs: 1 });
  }

  /** Behind the runs of this tally: those of another one, with later seeds. */
  append({ counts, finds }: Tallied<Seed>): void {
    for (const outcome of Object.keys(counts) as Outcome[]) this.counts[outcome] += counts[outcome];
    for (const find of finds) this.#find({ ...find });
  }

  #find(find: Find<Seed>): void {
    // Reports of one bug come with any status; for an error the status is all that there is.
    const status = find.outcome === 'error' ? ` ${find.status}` : '';
    const key = `${find.outcome}${status} ${kindOf(find.line)}`;
    const known = this.#finds.get(key);
    if (known) known.runs += find.runs;
    else if (this.#finds.size < this.#most) this.#finds.set(key, find);
  }
}
