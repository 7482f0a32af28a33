// The views that follow one focus: functions, calls, the kcov buffer and the time axis. The
// oracle is the machine of Node: the trace that it records, and what the guest's program
// prints.
import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { capsuleOf, PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the views skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('the views', () => {
  const site = hosted('/', BASELINE);

  const opened = (program: string) => site.at(`#program=${program}`);
  const unitOf = async (page: Page): Promise<number> =>
    Number(await page.locator('.unit input').inputValue());
  const printedBy = (id: string): string => new TextDecoder().decode(capsuleOf(id).console());
  const way = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it(
    'the buffer has the records that the program prints, and each leads to its moment',
    async () => {
      const page = await opened('remote-linux');
      await page.getByTitle('to the end of the run').click();
      await settled(page);
      // The program prints the PCs of its own buffer behind that of the remote section.
      const pcs = [...printedBy('remote-linux').matchAll(/^0x[0-9a-f]{16}$/gm)].map(([pc]) => pc);
      expect(pcs.length).toBeGreaterThan(3);
      const event = page.getByTitle('to the event before');
      const said = page.locator('.time output');
      const seen = new Set<string>();
      for (let i = 0; i < 60 && !seen.has('enters'); i++) {
        await event.click();
        await settled(page);
        const [, what] = /^remote section 0x\w+ (\w+)/.exec((await said.textContent()) ?? '') ?? [];
        if (what) seen.add(what);
      }
      expect(seen).toEqual(new Set(['leaves', 'enters']));
      // Behind a section: its records are in its buffer, the latest first.
      await page.getByTitle('to the end of the run').click();
      await settled(page);
      const rows = page.locator('.records .record');
      const titles = await rows.evaluateAll(buttons => buttons.map(button => button.getAttribute('title')));
      const words = titles.map(title => /^(0x[0-9a-f]{16}), written at unit ([\d,]+)$/.exec(title!)!);
      expect(words.length).toBeGreaterThan(0);
      for (const [, pc] of words) expect(pcs).toContain(pc);
      expect(await page.locator('.word0').textContent()).toBe(`${words.length}`);
      const unit = Number(words[0]![2]!.replaceAll(',', ''));
      await rows.first().click();
      await settled(page);
      expect(await unitOf(page)).toBe(unit);
      // At that moment it is not written yet; one instruction later it is.
      expect(await page.locator('.word0').textContent()).toBe(`${words.length - 1}`);
      await page.getByLabel('one instruction', { exact: true }).click();
      await settled(page);
      expect(await page.locator('.word0').textContent()).toBe(`${words.length}`);
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'comparisons are shown with their operands',
    async () => {
      const page = await opened('constants');
      await page.getByTitle('to the end of the run').click();
      await settled(page);
      const text = await page.locator('.records .comparison').allTextContents();
      expect(text.length).toBeGreaterThan(10);
      for (const one of text)
        expect(one).toMatch(/^0x[0-9a-f]+( \(constant\))? with 0x[0-9a-f]+, (8|16|32|64) bits$/);
      await page.getByTitle('follow this word as a datum').first().click();
      await settled(page);
      await page.getByLabel('who wrote the datum?').click();
      await settled(page);
      expect(await page.locator('.message').textContent()).toMatch(
        /: kcov writes the type of a comparison: record \d+ of thread \d+, from \w+ at kernel\//,
      );
      await page.getByTitle('to the end of the run').click();
      await settled(page);
      // The values that the kernel compares the argument with, as the program prints them.
      const constants = [...printedBy('constants').matchAll(/compared with (\d+)/g)].map(([, n]) =>
        Number(n),
      );
      for (const value of constants) expect(text.join('\n')).toContain(`0x${value.toString(16)} (constant)`);
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'functions and calls lead to the source and to the moment',
    async () => {
      const page = await opened('kcov-openbsd');
      await way(page, 'Functions').click();
      const read = page.locator('.files li button', { hasText: /^sys_read1 ×$/ });
      await read.click();
      expect(await page.locator('.source h2').textContent()).toBe('kernel/fs/sys_rw.c');
      await way(page, 'Calls').click();
      const which = page.getByLabel('system call or remote section');
      const option = which.locator('option', { hasText: /^read, \d+ records/ });
      await which.selectOption((await option.getAttribute('value'))!);
      const names = await page.locator('.tree button').allTextContents();
      expect(names[0]).toMatch(/^(trap_handle|user_exception|syscall_dispatch)/);
      expect(names).toContain('sys_read');
      await page.locator('.tree button', { hasText: /^sys_read$/ }).click();
      await settled(page);
      // The hook is shown by its caller, at the beginning of the function.
      expect(await page.locator('.calls button[aria-current]').textContent()).toContain('sys_read');
      expect(await page.locator('.l-now').textContent()).toMatch(/^\{|sys_read/);
      site.leave(page);
    },
    PATIENCE,
  );

  it('fits into windows of every size, and the source keeps lines', async () => {
    const page = await site.opened('#program=race');
    const faults: string[] = [];
    for (const [width, height] of [
      [320, 600],
      [420, 900],
      [700, 450],
      [1001, 700],
      [1400, 300],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(200);
      const [over, lines] = (await page.evaluate(
        `[document.documentElement.scrollWidth - innerWidth, document.querySelector('.editor').clientHeight]`,
      )) as [number, number];
      if (over > 0) faults.push(`${width} x ${height}: ${over} pixels too wide`);
      if (lines < 100) faults.push(`${width} x ${height}: ${lines} pixels of source`);
    }
    expect(faults).toEqual([]);
    await page.close();
  });

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
