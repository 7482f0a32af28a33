// The consequences of a plan: shards are a division of its trials, samples and seeds are functions
// of it, and a description is filled in for each execution.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { engineIndex } from '../../cli/experiment/shard.ts';
import { executionSeed, planHash, sampleOf, shardOf, trialId, trialSeed } from '../../experiment/plan.ts';
import { descriptionOf } from '../../experiment/trial.ts';
import { samplePlan } from './sample.ts';

const seeded = { seed: Number(process.env['KCOVBOX_SEED'] ?? 1) };

describe('shards', () => {
  test('every trial is in exactly one of them, and none has much more than its part', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 30 }), (trials, of) => {
        const plan = samplePlan({ trials });
        const shards = Array.from({ length: of }, (_, index) => shardOf(plan, index, of).map(trialId));
        expect(shards.flat().sort()).toEqual(plan.trials.map(trialId).sort());
        const sizes = shards.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
      { ...seeded, numRuns: 30 },
    );
  });

  test('another plan is divided otherwise', () => {
    const ids = (name: string): string[] =>
      shardOf({ ...samplePlan({ trials: 40 }), name }, 0, 4).map(trialId);
    expect(ids('one')).not.toEqual(ids('two'));
    expect(ids('one')).toEqual(ids('one'));
  });

  test('a sample has its share, at least one, and trials of several variants', () => {
    const plan = samplePlan({ trials: 50 });
    expect(sampleOf(plan, 5)).toHaveLength(5);
    expect(sampleOf(plan, 7)).toHaveLength(7); // 100 * 0.07 is more than 7
    expect(sampleOf(plan, 0.01)).toHaveLength(1);
    expect(new Set(sampleOf(plan, 100).map(trialId)).size).toBe(100);
    expect(new Set(sampleOf(plan, 20).map(({ variant }) => variant)).size).toBe(2);
  });
});

test.each([
  [{ SLURM_ARRAY_TASK_ID: '7' }, 7],
  [{ SLURM_ARRAY_TASK_ID: '7', SLURM_ARRAY_TASK_MIN: '5' }, 2],
  [{ JOB_COMPLETION_INDEX: '0' }, 0],
  [{ SGE_TASK_ID: '1', SGE_TASK_FIRST: '1' }, 0],
  [{ SGE_TASK_ID: 'undefined', PBS_ARRAY_INDEX: '3' }, 3],
  [{ AWS_BATCH_JOB_ARRAY_INDEX: '12' }, 12],
  [{ PARALLEL_SEQ: '1' }, 0],
])('the number of a task from %j is %i', (environment, index) =>
  expect(engineIndex(environment)).toBe(index),
);

test.each([[{}], [{ SLURM_ARRAY_TASK_ID: 'x' }], [{ PARALLEL_SEQ: '0' }]])('no number from %j', environment =>
  expect(() => engineIndex(environment)).toThrow(/give --index/),
);

test('seeds differ by base, variant, trial, execution and purpose', () => {
  const trials = [0n, 1n].flatMap(base => ['a', 'b'].flatMap(v => [0, 1].map(i => trialSeed(base, v, i))));
  expect(new Set(trials).size).toBe(8);
  const own = trials.flatMap(seed =>
    [1, 2].flatMap(k => ['seed', 'sched-seed'].map(w => executionSeed(seed, k, w))),
  );
  expect(new Set(own).size).toBe(32);
});

test('the hash of a plan changes with every part of it', () => {
  const plan = samplePlan({ trials: 2 });
  const others = [
    { ...plan, name: 'other' },
    { ...plan, budget: { executions: 8 } },
    { ...plan, trials: plan.trials.slice(1) },
    { ...plan, variants: plan.variants.slice(1) },
    { ...plan, sample: 1000 },
  ];
  expect(new Set([plan, ...others].map(planHash)).size).toBe(others.length + 1);
});

test('placeholders and seeds of an execution', () => {
  const plan = samplePlan({ trials: 1 });
  const [variant] = plan.variants;
  const trial = plan.trials[0]!;
  const run = descriptionOf({ ...variant!, vary: ['seed', 'sched-seed'] }, trial, 3);
  const own = `0x${executionSeed(trial.seed, 3, 'seed').toString(16)}`;
  expect(run.program.argv).toEqual(['prog', own, '3/0']);
  expect(run.kernel.append).toBe(`quiet kcov=device seed=${own} tty=stream`);
  expect(run.kernel.tail).toBe(`init=/bin/prog -- ${own} 3/0`);
  expect(run.machine).toMatchObject({
    seed: own,
    schedSeed: `0x${executionSeed(trial.seed, 3, 'sched-seed').toString(16)}`,
  });
  expect(descriptionOf({ ...variant!, vary: [] }, trial, 3).machine).toMatchObject({
    seed: null,
    schedSeed: null,
  });
});
