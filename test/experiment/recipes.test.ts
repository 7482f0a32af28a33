// The files in examples/experiment: experiments that the schema accepts, and a Job of Kubernetes
// that starts the shards it counts. (recipes.slow.test.ts runs the others.)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readExperiment } from '../../cli/experiment/read.ts';
import { engineIndex } from '../../cli/experiment/shard.ts';
import { ROOT } from '../support/command.ts';

const EXAMPLES = join(ROOT, 'examples', 'experiment');
const files = readdirSync(EXAMPLES).filter(name => name.endsWith('.yaml'));

test.each(files)('%s follows the schema, and has enough trials', name => {
  const { file } = readExperiment(join(EXAMPLES, name));
  expect(file.trials).toBeGreaterThanOrEqual(10);
  expect(`${file.name}`).not.toBe('');
});

test('the Job of Kubernetes', () => {
  const { spec, kind, apiVersion } = parse(
    readFileSync(join(EXAMPLES, 'cluster', 'kubernetes.yaml'), 'utf8'),
  );
  expect([apiVersion, kind, spec.completionMode]).toEqual(['batch/v1', 'Job', 'Indexed']);
  const [container] = spec.template.spec.containers;
  const words = container.command as string[];
  expect(words.slice(1, 4)).toEqual(['kcovbox', 'experiment', 'shard']);
  expect(Number(words[words.indexOf('--of') + 1])).toBe(spec.completions);
  expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
    spec.template.spec.volumes.map(({ name }: { name: string }) => name),
  );
  expect(spec.podFailurePolicy.rules[0].onExitCodes.containerName).toBe(container.name);
  expect(engineIndex({ JOB_COMPLETION_INDEX: String(spec.completions - 1) })).toBe(spec.completions - 1);
});
