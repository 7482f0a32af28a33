// Code of the tests in headless Chromium.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';

const FOLDER = dirname(fileURLToPath(import.meta.url));

/**
 * A file of this folder with its imports, as a script for a page. Errors: esbuild's, when it
 * imports a module of Node.
 */
export async function scriptOf(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, entry)],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

/** An empty page in which a script has run. */
export async function pageWith(browser: Browser, script: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto('about:blank');
  await page.addScriptTag({ content: script });
  return page;
}
