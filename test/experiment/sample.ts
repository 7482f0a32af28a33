// A plan and trials that no machine ran, for tests of what follows from them.
import { trialSeed } from '../../experiment/plan.ts';
import type { ExperimentTrial, PlannedTrial, ProgramPlan } from '../../experiment/schema.ts';
import type { RunDescription } from '../../run/index.ts';
import { SAMPLE } from '../run/sample.ts';

const sample = SAMPLE.run as RunDescription;
const run = {
  ...sample,
  program: { ...sample.program, name: 'prog', argv: ['prog', '{seed}', '{execution}/{trial}'] },
  kernel: {
    ...sample.kernel,
    append: 'quiet kcov=device tty=stream',
    tail: 'init=/bin/prog -- {seed} {execution}/{trial}',
  },
} as RunDescription;

/** `trials`: of each of the two variants. */
export function samplePlan({ trials }: { trials: number }): ProgramPlan {
  const names = ['plain', 'other'];
  return {
    format: 'kcovbox experiment plan',
    version: 1,
    name: 'sample',
    kind: 'program',
    baseline: 'plain',
    budget: { executions: 100 },
    sample: null,
    bugs: { crash: { status: 1 } },
    stopWhenFound: false,
    functions: [],
    variants: names.map(name => ({ name, run, input: '', vary: [] })),
    trials: names.flatMap(variant =>
      Array.from({ length: trials }, (_, index) => ({ variant, index, seed: trialSeed(0n, variant, index) })),
    ),
  };
}

export const sampleTrial = (
  planned: PlannedTrial,
  growth: ExperimentTrial['growth'],
  bugs: ExperimentTrial['bugs'] = [],
): ExperimentTrial => ({
  format: 'kcovbox experiment trial',
  version: 1,
  plan: '0'.repeat(64),
  ...planned,
  end: 'budget',
  executions: 100,
  instructions: 100_000,
  growth,
  points: growth.flatMap(([, , points], row) =>
    Array.from({ length: points - (growth[row - 1]?.[2] ?? 0) }, (_, i): [string, number] => [
      `0x${((growth[row - 1]?.[2] ?? 0) + i + 1).toString(16)}`,
      row,
    ]),
  ),
  runs: [],
  bugs,
});
