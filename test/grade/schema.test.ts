// docs/schemas/ holds the schemas of coursework; UPDATE_DOCS=1 renews them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { mutantsOf } from '../../grade/mutate.ts';
import { labManifest, labScore } from '../../grade/schema.ts';
import { labNames, openLab } from '../../host/lab/lab.ts';
import { ROOT } from '../support/command.ts';

test.each([
  ['lab', labManifest],
  ['lab-score', labScore],
])('docs/schemas/%s.json is the schema that the reader checks with', (name, schema) => {
  const path = join(ROOT, 'docs', 'schemas', `${name}.json`);
  const text = `${JSON.stringify({ title: `kcovbox ${name}`, ...z.toJSONSchema(schema) }, null, 2)}\n`;
  if (process.env['UPDATE_DOCS']) writeFileSync(path, text);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test.each(labNames())('%s: 100 points, a hint for each check that asks for work, all its mutants', name => {
  const lab = openLab(name);
  const { checks, files } = lab.manifest;
  expect(checks.reduce((sum, check) => sum + check.points, 0)).toBe(100);
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  expect([...lab.starter.keys()].sort()).toEqual(files.map(file => file.name).sort());
  for (const check of checks) {
    if (check.kind !== 'mutants') continue;
    const names = lab.mutants[check.id]!;
    expect(names.length).toBeGreaterThanOrEqual(check.need);
    const own = files.find(({ place }) => place === check.file)?.name;
    const path = own === undefined ? join('kernel', check.file) : `labs/${name}/teacher/solution/${own}`;
    const known = mutantsOf(readFileSync(join(ROOT, path), 'utf8'), check.functions);
    expect(known.map(mutant => mutant.name)).toEqual(expect.arrayContaining([...names]));
  }
  const text = readFileSync(join(lab.folder, 'text.md'), 'utf8');
  const words = text.split(/\s+/).length;
  expect(words).toBeGreaterThan(400);
  expect(words).toBeLessThan(1600);
});
