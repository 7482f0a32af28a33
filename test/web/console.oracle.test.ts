// The console as a way into the run, and the way back. The oracle is the output that Node recorded:
// at the moment of a letter the guest has printed what is in front of it, and one unit later the
// letter itself.
import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { capsuleOf, PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the console skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const PROGRAM = 'kcov-openbsd';
const [ROWS, COLUMNS] = [12, 80];

describe.skipIf(reason)('the console', () => {
  const site = hosted('/', BASELINE);

  const unitOf = async (page: Page): Promise<number> =>
    Number(await page.locator('.unit input').inputValue());
  const press = async (page: Page, ...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await settled(page);
    }
  };
  /** The rows that are shown, without the spaces behind them. */
  const rowsOf = async (page: Page): Promise<string[]> => {
    const rows = page.locator('.terminal .xterm-accessibility-tree > div');
    return (await rows.allTextContents()).map(row => row.replaceAll('\u00a0', ' ').trimEnd());
  };
  const text = (): string => new TextDecoder().decode(capsuleOf(PROGRAM).console());
  /** The last rows of a text on the terminal. */
  const shown = (printed: string): string[] => {
    const lines = printed.split('\n').map(line => line.trimEnd());
    const last = lines.slice(-ROWS);
    return [...last, ...Array.from({ length: ROWS - last.length }, () => '')];
  };
  const expectShown = (page: Page, printed: string) =>
    expect.poll(() => rowsOf(page), { timeout: 30_000 }).toEqual(shown(printed));

  it(
    'a click on a letter goes to the moment at which it was printed',
    async () => {
      const page = await site.opened(`#program=${PROGRAM}`);
      await press(page, '>');
      await expectShown(page, text());
      expect(
        text()
          .split('\n')
          .every(line => line.length <= COLUMNS),
      ).toBe(true);
      const lines = text().trimEnd().split('\n');
      const wanted = lines.length - 3;
      const column = 4;
      const before = [...lines.slice(0, wanted), lines[wanted]!.slice(0, column)].join('\n');
      const row = shown(text()).indexOf(lines[wanted]!);
      const box = (await page.locator('.terminal .xterm-screen').boundingBox())!;
      await page.mouse.click(
        box.x + ((column + 0.5) * box.width) / COLUMNS,
        box.y + ((row + 0.5) * box.height) / ROWS,
      );
      await settled(page);
      await expectShown(page, before);
      await press(page, 'i');
      await expectShown(page, `${before}${lines[wanted]![column]}`);
      await page.close();
    },
    PATIENCE,
  );

  it(
    'keys go from line to line of the output, and back to where one was',
    async () => {
      const page = await site.opened(`#program=${PROGRAM}`);
      const start = await unitOf(page);
      const lines = text().trimEnd().split('\n');
      const units = [start];
      for (const count of [0, 1, 2]) {
        await press(page, ')');
        await expectShown(
          page,
          lines
            .slice(0, count)
            .map(line => `${line}\n`)
            .join(''),
        );
        units.push(await unitOf(page));
      }
      expect(units).toEqual([...units].sort((a, b) => a - b));
      await press(page, '(');
      expect(await unitOf(page)).toBe(units[2]);
      // The way back has the same places, and another way begins where the reader leaves it.
      await press(page, 'z', 'z');
      expect(await unitOf(page)).toBe(units[2]);
      await press(page, 'z', 'z');
      expect(await unitOf(page)).toBe(start);
      await press(page, 'Z');
      expect(await unitOf(page)).toBe(units[1]);
      await press(page, 'i', 'z', 'z', 'z');
      expect(await unitOf(page)).toBe(start);
      expect(await page.locator('.message').textContent()).toBe('this is where you began');
      await press(page, 'Z', 'Z', 'Z');
      expect(await unitOf(page)).toBe(units[1]! + 1);
      expect(await page.locator('.message').textContent()).toBe('this is the last place at which you were');
      await page.close();
    },
    PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
