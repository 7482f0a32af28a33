// The files in examples/experiment: experiments that the schema accepts.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readExperiment } from '../../cli/experiment/read.ts';
import { ROOT } from '../support/command.ts';

const EXAMPLES = join(ROOT, 'examples', 'experiment');
const files = readdirSync(EXAMPLES).filter(name => name.endsWith('.yaml'));

test.each(files)('%s follows the schema, and has enough trials', name => {
  const { file } = readExperiment(join(EXAMPLES, name));
  expect(file.trials).toBeGreaterThanOrEqual(10);
  expect(`${file.name}`).not.toBe('');
});
