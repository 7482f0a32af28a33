// The README, the tutorials and the pages of docs/pairs show what their commands print.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const tutorials = ['docs/tutorials', 'docs/pairs'].flatMap(folder =>
  readdirSync(join(ROOT, folder)).map(name => `${folder}/${name}`),
);

test.each(['README.md', ...tutorials])('%s: every console block is the output of its commands', page => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'setup', 'readme.mjs'), page], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('every example is in the README or in a tutorial', () => {
  const text = ['README.md', ...tutorials].map(page => readFileSync(join(ROOT, page), 'utf8')).join('');
  const examples = readdirSync(join(ROOT, 'examples')).filter(name => name.endsWith('.c'));
  expect(examples.length).toBeGreaterThanOrEqual(8);
  expect(examples.filter(name => !text.includes(`examples/${name}`))).toEqual([]);
});
