// The menu of the page has every program of examples/ that one of its kernels can run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROGRAMS } from '../../web/assets/programs.ts';
import { ROOT } from '../support/command.ts';

/** docs/page.md says why they are not there. */
const MISSING = ['examples/pipe.c'];

it('the menu has the examples', () => {
  const examples = readdirSync(join(ROOT, 'examples')).filter(name => name.endsWith('.c'));
  const inMenu = new Set(PROGRAMS.map(({ path }) => path));
  const missing = examples.map(name => `examples/${name}`).filter(path => !inMenu.has(path));
  expect(missing).toEqual(MISSING);
});

it('every program has a name, a title and a sentence of its own', () => {
  for (const key of ['id', 'title', 'about'] as const)
    expect(new Set(PROGRAMS.map(row => row[key])).size, key).toBe(PROGRAMS.length);
  for (const { about } of PROGRAMS) expect(about).toMatch(/^\S.{10,90}[.?]$/);
});
