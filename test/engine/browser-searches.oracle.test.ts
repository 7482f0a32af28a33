// The engine's own searches in headless Chromium: compiled code leaves there what interpreted code
// leaves, and each program leaves what it leaves in Node, to the bit. KCOVBOX_SEED,
// KCOVBOX_PROGRAMS.

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { pageWith, scriptOf } from '../support/page.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { type Dose, runSearch, type Searched } from '../support/searches-main.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0xb405e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || 3);

const DOSES: readonly Dose[] = [
  { search: 'shapes', seed: SEED, programs: 2 * PROGRAMS },
  { search: 'privileged', seed: SEED, programs: PROGRAMS },
  { search: 'privileged', seed: SEED, programs: PROGRAMS, harts: 2 },
  { search: 'interrupts', seed: SEED, programs: PROGRAMS, arrivals: 20 },
];

const titleOf = ({ search, harts = 1 }: Dose): string => `${search}, ${harts} hart${harts > 1 ? 's' : ''}`;

describe.skipIf(missing('chromium', existsSync(CHROMIUM) || undefined))('the searches in Chromium', () => {
  let browser: Browser;
  let script: string;
  let page: Page;

  beforeAll(async () => {
    script = await scriptOf('searches-main.ts');
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    page = await pageWith(browser, script);
  });
  afterAll(() => browser?.close());

  const runIn = (where: Page, dose: Dose): Promise<Searched> =>
    where.evaluate(one => (globalThis as unknown as { runSearch: typeof runSearch }).runSearch(one), dose);

  test.each(DOSES.map(dose => [titleOf(dose), dose] as const))(
    '%s',
    { timeout: 120_000 },
    async (title, dose) => {
      const here = runSearch(dose);
      const there = await runIn(page, dose);
      const sum = (key: 'instructions' | 'compiled'): number =>
        there.programs.reduce((total, program) => total + program[key], 0);
      console.info(
        `${title}: seed ${seedText(SEED)}, ${dose.programs} programs, ${sum('instructions')} instructions`,
      );
      expect(there.difference).toBeUndefined();
      expect(there).toEqual(here);
      expect(there.programs).toHaveLength(dose.programs);
      expect(sum('compiled'), 'compiled code ran').toBeGreaterThan(0);
    },
  );

  // Both engines have it, so only the comparison with Node can find it.
  test('a wrong instruction of the host is found', { timeout: 120_000 }, async () => {
    const wrong = script.replace(/(?<=i64_mul\(\) \{\s*return this\.op\()126\b/, '124');
    expect(wrong).not.toBe(script);
    const dose = DOSES[0]!;
    const there = await runIn(await pageWith(browser, wrong), dose);
    expect(there.difference).toBeUndefined();
    expect(there.programs).not.toEqual(runSearch(dose).programs);
  });
});
