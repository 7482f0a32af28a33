// The console blocks of all pages show what their commands print; setup/readme.mjs runs them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './support/command.ts';
import { CONSOLE_PAGES, checkPage } from './support/console-pages.ts';

test.each(CONSOLE_PAGES.map(({ page }) => page))(
  '%s: every console block is the output of its commands',
  page => {
    expect(checkPage(page)).toEqual({ status: 0, stderr: '' });
  },
);

test('every example is in a page with console blocks', () => {
  const text = CONSOLE_PAGES.map(({ page }) => readFileSync(join(ROOT, page), 'utf8')).join('');
  const examples = readdirSync(join(ROOT, 'examples')).filter(name => name.endsWith('.c'));
  expect(examples.length).toBeGreaterThanOrEqual(8);
  expect(examples.filter(name => !text.includes(`examples/${name}`))).toEqual([]);
});
