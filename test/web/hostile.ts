// Damaged files in the page: programs and kernels whose headers, symbols and debug information are
// changed at random, and capsules with such kernels. Each ends with a run or with one line, in
// bounded time; the page goes on, sends nothing, and keeps what its origin has stored. For
// hostile.*.test.ts.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Elf } from '../../coverage/index.ts';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { PATIENCE, settled } from './built.ts';
import { hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `damaged files in the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const FLAGS = ['--cflags', '-g -O0 -nostdlib -static'];
/** Milliseconds until a file is open or refused; a run of the whole budget is in it. */
const LONG = 60_000;

/** The tests with so many damaged programs, and kernels of capsules. */
export function hostileTests(mutants: number, kernels: number): void {
  describe.skipIf(reason)('damaged files in the page', () => {
    const site = hosted();
    const dir = mkdtempSync(join(tmpdir(), 'kcovbox-hostile-'));
    const at = (name: string): string => join(dir, name);

    beforeAll(async () => {
      const source = join(ROOT, 'examples', 'bare.c');
      expect(kcovbox(['build', ...FLAGS, '-o', at('bare'), source], { cwd: dir }).status).toBe(0);
    }, 600_000);

    afterAll(() => rmSync(dir, { recursive: true, force: true }));

    /** Some bytes of sections that are not loaded, or of the headers, are others. */
    function damaged(file: string, random: Random): Uint8Array {
      const bytes = Uint8Array.from(readFileSync(file));
      const debug = new Elf(bytes, 'file').sections.filter(({ name }) =>
        /^\.(debug_|symtab|strtab)/.test(name),
      );
      const places = [...debug, { offset: 0, size: 64 }];
      for (let i = 0; i < 40; i++) {
        const { offset, size } = places[random.below(places.length - (random.oneIn(40) ? 0 : 1))]!;
        if (size > 0) bytes[offset + random.below(size)] = random.below(256);
      }
      return bytes;
    }

    /** The page's answer to a file: its verdict, or its line. */
    async function answer(page: Page, path: string): Promise<string> {
      await page.locator('input[type=file]').setInputFiles(path);
      await page.waitForTimeout(100);
      await page.waitForSelector('.verdict:not(.busy)', { timeout: LONG });
      await settled(page);
      const [message, verdict] = [page.locator('.message'), page.locator('.verdict')];
      return (await message.textContent()) || (await verdict.textContent()) || '';
    }

    it(
      'are opened or refused in one line, and reach nothing',
      async () => {
        const seed = seedFromEnvironment(0x5eed16);
        const random = new Random(seed);
        const page = await site.browser.newPage({ viewport: { width: 1400, height: 860 } });
        page.setDefaultTimeout(PATIENCE);
        const [requests, said]: [string[], string[]] = [[], []];
        page.on('request', request => requests.push(request.url()));
        page.on('console', message => said.push(message.text()));
        page.on('pageerror', error => said.push(error.message));
        await page.goto(site.home);
        await page.waitForSelector('.verdict.same');
        await page.evaluate(`localStorage.setItem('secret', 'of this origin')`);
        const kernel = kcovbox(['build', 'kernel'], { cwd: dir }).stdout.trim();
        const files = Array.from({ length: mutants }, (_, i) => {
          writeFileSync(at(`mutant${i}`), damaged(at('bare'), random));
          return at(`mutant${i}`);
        });
        for (let i = 0; i < kernels; i++) {
          writeFileSync(at('kernel'), damaged(kernel, random));
          const capsule = at(`kernel${i}.kcapsule`);
          kcovbox(['run', '--kernel', at('kernel'), '--record', capsule, at('bare')], { cwd: dir });
          if (existsSync(capsule)) files.push(capsule);
        }
        expect(files.length).toBeGreaterThan(mutants);
        for (const file of files) {
          const text = await answer(page, file);
          expect(text, `${file}, seed ${seedText(seed)}`).toMatch(/^[^\n]{5,300}$/);
          expect(text, `${file}, seed ${seedText(seed)}`).not.toMatch(/internal error/);
          // Whatever it is, the views answer.
          if ((await page.locator('.controls').count()) === 0) continue;
          for (const key of ['n', 's', 'f', '2', '3', '1', '>']) {
            await page.keyboard.press(key);
            await settled(page);
          }
          expect(await page.locator('.message').textContent()).not.toMatch(/internal error/);
        }
        expect(await answer(page, at('bare'))).toBe('identical to the recorded run');
        expect(await page.evaluate(`localStorage.getItem('secret')`)).toBe('of this origin');
        expect(requests.filter(url => !url.startsWith(site.home) && !url.startsWith('blob:'))).toEqual([]);
        expect(said).toEqual([]);
        await page.close();
      },
      10 * PATIENCE,
    );
  });
}
