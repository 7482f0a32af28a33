/** The page as `npm run web` builds it, for tests in Chromium. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { parseCapsule } from '../../host/capsule.ts';
import type { Assets } from '../../web/protocol.ts';
import { ROOT } from '../support/command.ts';

export const WEB = join(ROOT, 'dist', 'web');
export const PATIENCE = 120_000;

/** One file of tests at a time: the others find it fresh. */
export const buildPage = (): void => {
  execFileSync('flock', ['package.json', process.execPath, 'setup/web.mjs', '--if-stale'], { cwd: ROOT });
};

export const assetsOf = (): Assets =>
  JSON.parse(gunzipSync(readFileSync(join(WEB, 'assets.packed'))).toString());

/** The capsule that Node recorded. */
export const capsuleOf = (id: string) =>
  parseCapsule(readFileSync(join(WEB, 'programs', `${id}.kcapsule`)), `${id}.kcapsule`);

/** Until the worker has answered. */
export async function settled(page: Page): Promise<void> {
  await page.waitForTimeout(50);
  await page.waitForSelector('.verdict:not(.busy)');
}

/** Errors of all pages, and their requests. */
export class Observed {
  readonly errors: string[] = [];
  readonly requests: string[] = [];

  add(page: Page): void {
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', error => this.errors.push(error.message));
    page.on('console', message => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('request', request => this.requests.push(request.url()));
  }
}
