// The answer as the file of -o: docs/schemas/why.json.
import type { Call, Why } from './schema.ts';
import type { Answer, Side } from './why.ts';

/** The question. */
export interface Asked {
  readonly failure: string;
  readonly most: number;
  readonly seed: bigint;
  readonly spread: number;
}

export function fileOf({ kind, first, failed, samples, spent, step }: Answer<Call[]>, asked: Asked): Why {
  const { failure, most, seed, spread } = asked;
  return {
    format: 'kcovbox why',
    version: 1,
    failure,
    forks: { most, seed: `0x${seed.toString(16)}`, spread, executed: spent },
    run: { first, failed },
    answer: kind,
    samples: [...samples],
    decision: step
      ? {
          before: step.before,
          after: step.after,
          inevitable: step.inevitable,
          parting: step.parting,
          failing: sideOf(step.failing),
          fork: sideOf(step.fork),
        }
      : null,
  };
}

const sideOf = (side: Side<Call[]> | null) =>
  side && { ...side, stops: [...side.stops], goesOn: [...side.goesOn] };
