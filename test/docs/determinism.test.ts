// docs/determinism.md lists all that may change a run: each field of a description, and a test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bootDescription, runDescription } from '../../run/schema.ts';
import { ROOT } from '../support/command.ts';

const page = readFileSync(join(ROOT, 'docs', 'determinism.md'), 'utf8');
const rows = page
  .slice(page.indexOf('| what may change a run |'))
  .split('\n\n')[0]!
  .split('\n')
  .slice(2)
  .map(line => line.split(' | '));

/** Fields of a description, two levels deep: what is below is part of them. */
function fieldsOf(shape: Record<string, unknown>): string[] {
  return Object.entries(shape).flatMap(([name, inner]) => {
    const below = (inner as { shape?: Record<string, unknown> }).shape;
    return below && name !== 'input' ? Object.keys(below).map(key => `${name}.${key}`) : [name];
  });
}

describe('the table of what may change a run', () => {
  test.each([
    ['run', runDescription.shape],
    ['boot', bootDescription.shape],
  ])('has every field of the description of %s', (_, shape) => {
    const named = rows.map(([, pinned]) => pinned).join(' ');
    const missing = fieldsOf(shape).filter(field => !named.includes(`\`${field}\``));
    expect(missing).toEqual(['format', 'version']);
  });

  test('names a test for each, and they exist', () => {
    expect(rows.length).toBeGreaterThan(30);
    for (const [what, , tests = ''] of rows) {
      const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);
      expect(paths.length, what).toBeGreaterThan(0);
      expect(paths.filter(path => !existsSync(join(ROOT, path)))).toEqual([]);
    }
  });
});
