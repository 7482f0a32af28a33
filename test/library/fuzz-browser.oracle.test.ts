// A campaign in Chromium is the one of Node: the same corpus and finds at the same executions.
import { existsSync } from 'node:fs';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Campaign, type CampaignOptions, openFuzzTarget } from '../../library/fuzz.ts';
import { fuzzTarget } from '../../library/node.ts';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { ROOT } from '../support/command.ts';
import { missing } from '../support/tools.ts';

/** In the page and here. `images`: as JSON, with bytes in base 64. */
const SCRIPT = `
  import { openFuzzTarget } from './library/fuzz.ts';
  const bytes = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
  globalThis.campaign = async (images, options) => {
    const { kernel, initrd, ...rest } = JSON.parse(images);
    const target = openFuzzTarget({ ...rest, kernel: bytes(kernel), initrd: bytes(initrd) });
    const found = await target.campaign({ ...options, seed: BigInt(options.seed) });
    return JSON.stringify(found, (_, value) => (value?.text === undefined ? value : value.text));
  };
`;

const shown = (campaign: Campaign): unknown =>
  JSON.parse(JSON.stringify(campaign, (_, value) => (value?.text === undefined ? value : value.text)));

const CASES: readonly (readonly [name: string, threads: boolean, options: CampaignOptions])[] = [
  ['the defaults', false, { executions: 2048, seed: 5n }],
  ['races', true, { executions: 1024, seed: 6n, schedule: 'pos' }],
];

test.skipIf(missing('chromium', existsSync(CHROMIUM) || undefined)).each(CASES)(
  'a campaign in Chromium: %s',
  async (_, threads, options) => {
    const target = await fuzzTarget({ threads });
    const { kernel, initrd, ...rest } = target.images;
    const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
    const images = JSON.stringify({ ...rest, kernel: base64(kernel), initrd: base64(initrd) });
    const { outputFiles } = await build({
      stdin: { contents: SCRIPT, resolveDir: ROOT },
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      logLevel: 'error',
    });
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: outputFiles[0]!.text });
      const found = await page.evaluate<string>(
        `campaign(${JSON.stringify(images)}, ${JSON.stringify({ ...options, seed: String(options.seed) })})`,
      );
      const wanted = shown(await openFuzzTarget(target.images).campaign(options));
      expect(JSON.parse(found)).toEqual(wanted);
      expect(JSON.parse(found).corpus.length).toBeGreaterThan(50);
    } finally {
      await browser.close();
    }
  },
);
