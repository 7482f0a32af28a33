// The text that stands beside the lines of a run is the one that its program was compiled from, or
// a line says why there is none.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `source texts skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('source texts', () => {
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-texts-'));
  const at = (name: string): string => join(dir, name);
  const example = readFileSync(join(ROOT, 'examples', 'hello.c'), 'utf8');
  const record = (capsule: string, source: string, ...more: readonly string[]): void => {
    const { status, stderr } = kcovbox(['run', '--record', at(capsule), ...more, source], { cwd: dir });
    expect(status, stderr).toBe(0);
  };

  beforeAll(() => {
    writeFileSync(at('hello.c'), `/* mine */\n\n${example}`);
    record('edited.kcapsule', at('hello.c'));
    record('unsummed.kcapsule', at('hello.c'), '--cflags', '-gdwarf-4');
    writeFileSync(at('lined.c'), `#line 3 "${join(ROOT, 'examples', 'hello.c')}"\n${example}`);
    record('lined.kcapsule', at('lined.c'));
    for (const folder of ['one', 'two']) {
      mkdirSync(at(folder));
      const text = `/* ${folder} */\nint ${folder}(volatile int *n)\n{\n    return ++*n;\n}\n`;
      writeFileSync(at(`${folder}/part.c`), text);
    }
    const main = 'int main(void) { volatile int n = 0; return one(&n) + two(&n) - 3; }';
    writeFileSync(at('parts.c'), `#include "one/part.c"\n#include "two/part.c"\n${main}\n`);
    record('parts.kcapsule', at('parts.c'), '--cflags', '-O0');
    record('same.kcapsule', join(ROOT, 'examples', 'hello.c'), '--conf', 'openbsd+teach');
  }, 600_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const give = (page: Page, ...files: readonly string[]) =>
    page.locator('input[type=file]').setInputFiles(files.map(at));
  const note = (page: Page, text: string) => page.locator('.source .empty', { hasText: text }).waitFor();
  const lineWith = (page: Page, text: string) => page.locator('.cm-line', { hasText: text }).waitFor();

  it('are not those of another program of the same name', { timeout: PATIENCE }, async () => {
    const page = await site.at();
    await give(page, 'edited.kcapsule');
    await note(page, 'compiled from another hello.c');
    // A file that is refused leaves the run, and what is given to it.
    writeFileSync(at('none.kcapsule'), 'no run');
    await give(page, 'none.kcapsule');
    await page.locator('.message', { hasText: 'none.kcapsule' }).waitFor();
    expect(await page.locator('.cm-line').count()).toBe(0);
    await give(page, 'hello.c');
    await lineWith(page, '/* mine */');
    expect(await page.locator('.cm-line.l-covered').count()).toBeGreaterThan(2);
    expect(await page.locator('.source .empty').count()).toBe(0);
    // Not of this program, as a text of the reader's is not.
    writeFileSync(at('hello.c'), `${example}\n`);
    await page.locator('header select').selectOption('lines');
    await page.waitForSelector('.verdict.same');
    await give(page, 'edited.kcapsule', 'hello.c');
    await note(page, 'compiled from another hello.c');
    writeFileSync(at('hello.c'), `/* mine */\n\n${example}`);
    await give(page, 'hello.c', 'edited.kcapsule');
    await lineWith(page, '/* mine */');
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    site.leave(page);
  });

  it('are those of the page, where the program is the same', { timeout: PATIENCE }, async () => {
    const page = await site.at();
    await give(page, 'same.kcapsule');
    await lineWith(page, 'return 0;');
    await page.waitForSelector('.verdict.same');
    expect(await page.locator('.source .empty').count()).toBe(0);
    // Its kernel is none of the page's.
    await page.getByRole('button', { name: 'fs/file.c' }).click();
    await note(page, 'may not be the file.c that was compiled');
    await page.locator('.cm-line').first().waitFor();
    site.leave(page);
  });

  it('may be others, where the program does not say which: a note', { timeout: PATIENCE }, async () => {
    const page = await site.at();
    for (const [capsule, text] of [
      ['unsummed.kcapsule', '#include <stdio.h>'], // the page's
      ['lined.kcapsule', '#include <stdio.h>'],
    ] as const) {
      await give(page, 'parts.kcapsule');
      await page.locator('.source h2', { hasText: 'parts.c' }).waitFor();
      await give(page, capsule);
      await note(page, 'may not be the hello.c that was compiled');
      await lineWith(page, text);
      await settled(page);
    }
    expect(await page.locator('.source > .hidden').textContent()).toContain('may not be the hello.c');
    site.leave(page);
  });

  it('are told apart, where folders have files of one name', { timeout: PATIENCE }, async () => {
    const page = await site.at();
    await give(page, 'parts.c', 'parts.kcapsule', 'one/part.c', 'two/part.c');
    await lineWith(page, 'int main(void)');
    await settled(page);
    for (const folder of ['one', 'two']) {
      await page.evaluate(`location.hash = '#file=${folder}/part.c&line=4'`);
      await lineWith(page, `/* ${folder} */`);
      expect(await page.locator('.source .empty').count()).toBe(0);
    }
    site.leave(page);
  });

  it('are those of a run that is on its way', { timeout: PATIENCE }, async () => {
    const page = await site.at('#program=hello');
    await give(page, 'edited.kcapsule');
    await give(page, 'hello.c');
    await lineWith(page, '/* mine */');
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    site.leave(page);
  });

  it('belong to the run, or a line says that they do not', { timeout: PATIENCE }, async () => {
    const page = await site.at('#program=hello');
    await lineWith(page, 'return 0;');
    const says = (text: string) => page.locator('.message', { hasText: text }).waitFor();
    writeFileSync(at('notes.c'), 'int x;\n');
    writeFileSync(at('other.h'), 'int y;\n');
    await give(page, 'notes.c');
    await says('notes.c is not shown: it is no source of this run');
    await give(page, 'hello.c'); // edited
    await says('hello.c is not shown: this run was compiled from another text of this name');
    await give(page, 'notes.c', 'other.h');
    await says('notes.c and 1 more are no sources of this run, and are not shown');
    writeFileSync(at('pipe.c'), readFileSync(join(ROOT, 'kernel/fs/pipe.c')));
    await give(page, 'pipe.c'); // the page has it
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    await give(page, 'notes.c', 'parts.kcapsule');
    await says('notes.c is not shown: it is no source of this run');
    await give(page, 'parts.c', 'parts.kcapsule');
    await lineWith(page, 'int main(void)');
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    site.leave(page);
  });

  it('are texts of the run that is open, and no files of any size', { timeout: PATIENCE }, async () => {
    const page = await site.at('#program=hello');
    await give(page, 'hello.c'); // another one than the page's, which stays
    await settled(page);
    await lineWith(page, 'return 0;');
    expect(await page.locator('.source .empty').count()).toBe(0);
    writeFileSync(at('large.c'), ' '.repeat(5_000_000));
    await give(page, 'large.c');
    await page
      .locator('.message', { hasText: 'large.c has 5000000 bytes; a source text has at most' })
      .waitFor();
    site.leave(page);
  });

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
