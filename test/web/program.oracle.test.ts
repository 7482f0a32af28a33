// A program without a capsule, dropped on the page: the page records it. The oracle is Node: the
// same program, recorded by the command with the same budget, has the same capsule, byte for byte.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCapsule } from '../../host/capsule.ts';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox } from '../support/command.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `programs in the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const BUDGET = '300000000';
/** It reads to the end of its input, and has a line of its own. */
const SOURCE = `#include <stdio.h>
int main(void)
{
	int c, count = 0;
	while ((c = getchar()) != EOF)
		count++;
	printf("%d bytes\\n", count);
	return 5;
}
`;

describe.skipIf(reason)('a program that is dropped on the page', () => {
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-program-'));
  const at = (name: string): string => join(dir, name);

  beforeAll(async () => {
    writeFileSync(at('count.c'), SOURCE);
    for (const dialect of ['openbsd', 'linux']) {
      const words = ['build', '--dialect', dialect, '-o', at(`count-${dialect}`), at('count.c')];
      expect(kcovbox(words, { cwd: dir }).status).toBe(0);
    }
  }, 600_000);

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const opened = (program: string) => site.at(`#program=${program}`);
  /** Drops a file, as a person does. */
  async function drop(page: Page, path: string, name: string): Promise<void> {
    const base64 = readFileSync(path).toString('base64');
    await page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${base64}'), letter => letter.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
    await settled(page);
  }

  it.each(['openbsd', 'linux'])(
    'runs on the kernel of %s, and its capsule is the one that Node records',
    async dialect => {
      const path = at(`count-${dialect}`);
      const recorded = at(`${dialect}.kcapsule`);
      const words = ['run', '--dialect', dialect, '--max-insns', BUDGET, '--record', recorded, path];
      expect(kcovbox(words, { cwd: dir, input: '' }).status).toBe(5);
      const page = await opened(dialect === 'openbsd' ? 'hello' : `kcov-${dialect}`);
      await drop(page, path, `count-${dialect}`);
      await page.locator('.verdict.same[title*="status 5"]').waitFor();
      expect(await page.locator('.message').textContent()).toBe('');
      expect(await page.locator('.calls').textContent()).toContain('main');
      await page.getByRole('button', { name: 'Share' }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save as a file' }).click();
      const saved = at(`${dialect}-page.kcapsule`);
      await (await download).saveAs(saved);
      const [own, nodes] = [saved, recorded].map(file => parseCapsule(readFileSync(file), file));
      expect(own!.manifest).toEqual(nodes!.manifest);
      expect(readFileSync(saved).equals(readFileSync(recorded))).toBe(true);
      await page.getByRole('button', { name: 'Close' }).first().click();
      site.leave(page);
    },
    PATIENCE,
  );

  it('says in one line why a file is no program for it', async () => {
    const page = await opened('hello');
    const bad: readonly [name: string, bytes: Uint8Array, why: RegExp][] = [
      [
        'cut',
        readFileSync(at('count-linux')).subarray(0, 60),
        /^program cut is a truncated ELF file: 60 bytes$/,
      ],
      [
        'other',
        readFileSync(process.execPath).subarray(0, 4096),
        /^program other is (for ELF machine \d+|a truncated)/,
      ],
      ['text', new TextEncoder().encode(SOURCE), /^capsule text is not a capsule/],
    ];
    const kernel = kcovbox(['build', 'kernel'], { cwd: dir }).stdout.trim();
    const bare = Uint8Array.from(readFileSync(at('count-linux')));
    new DataView(bare.buffer).setBigUint64(24, 0x80000000n, true);
    for (const [name, bytes, why] of [
      ...bad,
      [
        'bare',
        bare,
        /^bare is a kernel or a bare-metal image: record its machine with kcovbox boot --record/,
      ] as const,
      ['kernel', readFileSync(kernel), /^kernel is a kernel or a bare-metal image/] as const,
    ]) {
      writeFileSync(at('bad'), bytes);
      await drop(page, at('bad'), name);
      await expect.poll(() => page.locator('.message').textContent()).toMatch(why);
    }
    await drop(page, at('count-openbsd'), 'a name with <blanks> "and" ümlauts');
    await page.locator('.verdict.same[title*="status 5"]').waitFor();
    await page.close();
  });

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
