// The console blocks that take minutes: campaigns of the fuzzer, experiments.
import { expect, test } from 'vitest';
import { CONSOLE_PAGES, checkPage } from './support/console-pages.ts';

test.each(CONSOLE_PAGES.filter(({ isSlow }) => isSlow).map(({ page }) => page))(
  '%s: every slow console block is the output of its commands',
  page => {
    expect(checkPage(page, '--slow')).toEqual({ status: 0, stderr: '' });
  },
);
