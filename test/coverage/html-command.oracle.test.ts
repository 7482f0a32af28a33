/** The HTML report as the command writes it, in a real browser. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kcovbox, ROOT } from '../support/command.ts';
import { CHROMIUM, QUIET } from './browser.ts';
import { missing, scratch } from './support.ts';

let reason = missing('HTML report of the command', 'clang-19', 'ld.lld-19');
if (!reason && !existsSync(CHROMIUM)) {
  reason = `HTML report of the command skipped: no ${CHROMIUM}`;
  console.warn(reason);
}

const PROGRAM = `#include <unistd.h>
int main(void)
{
    return write(1, "h\\u00e9llo\\n", 7) != 7;
}
`;

describe.skipIf(reason)('HTML report of the command', () => {
  let browser: Browser;
  let path: string;

  beforeAll(async () => {
    const dir = scratch();
    writeFileSync(join(dir, 'cafe.c'), PROGRAM);
    path = join(dir, 'x.html');
    const ran = kcovbox(['run', '--trace', '--cover', path, '--test-name', 'caf\u00e9', 'cafe.c'], {
      cwd: dir,
      timeout: 170_000,
    });
    expect(ran.status, ran.stderr).toBe(0);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  });
  afterAll(() => browser?.close());

  it('shows characters outside ASCII as they were meant', async () => {
    const page = await browser.newPage();
    await page.goto(`file://${path}`);
    expect(await page.locator('[data-dir]').first().textContent()).toBe('\u25be');
    expect(await page.locator('#theme').textContent()).toBe('\u25d0');
    expect(await page.locator('.meta').first().textContent()).toContain('\u00b7');
    expect(await page.locator('body').textContent()).not.toMatch(/[\u00c2\u00e2][\u0080-\u00bf]/);
    await page.goto(`file://${path}#/tests`);
    expect(await page.locator('td.name').first().textContent()).toBe('caf\u00e9');
  });

  it('cov diff -o writes a page that opens with the comparison; two trials stay two tests', async () => {
    const dir = scratch();
    const cwd = { cwd: dir, timeout: 170_000 };
    writeFileSync(join(dir, 'a.c'), PROGRAM);
    for (const name of ['one', 'two']) {
      writeFileSync(
        join(dir, 'a.c'),
        `#include <sys/stat.h>\n${PROGRAM.replace('return', name === 'two' ? 'mkdir("/tmp/x", 0700); return' : 'return')}`,
      );
      const ran = kcovbox(['run', '--trace', '--cover', `${name}.kcov`, 'a.c'], cwd);
      expect(ran.status, ran.stderr).toBe(0);
    }
    const diff = kcovbox(['cov', 'diff', '-o', 'diff.html', 'one.kcov', 'two.kcov'], cwd);
    expect([diff.status, diff.stdout, diff.stderr]).toEqual([0, '', '']);
    const page = await browser.newPage();
    await page.goto(`file://${join(dir, 'diff.html')}`);
    expect(await page.locator('h1').textContent()).toBe('Compare');
    expect(await page.locator('.meta').nth(1).textContent()).toMatch(/^A one, B two\. .* only in B/);
    expect(await page.locator('table.list tbody tr').count()).toBeGreaterThan(1);
    await page.locator('table.list tbody a').first().click();
    expect(page.url()).toMatch(/#\/file\/kernel\/.*\?a=test:one&b=test:two$/);

    const merged = kcovbox(['cov', 'merge', '-o', 'both.kcov', 'one.kcov', 'two.kcov'], cwd);
    expect([merged.status, merged.stderr]).toEqual([0, '']);
    const stats = kcovbox(['cov', 'stats', 'both.kcov'], cwd).stdout;
    expect(stats).toMatch(/^tests +a \(one\), a \(two\)$/m);
    expect(stats).toMatch(/^unknown lines +\d+$/m);
    const lcov = kcovbox(['cov', 'export', '--format', 'lcov', 'both.kcov'], cwd).stdout;
    expect(new Set(lcov.match(/^TN:.*$/gm))).toEqual(new Set(['TN:a__one_', 'TN:a__two_']));
  });

  it('comes from a bundle that is ASCII, because bin/ reads it as Latin-1', () => {
    const bundle = readFileSync(join(ROOT, 'dist', 'kcovbox.cjs'));
    expect(bundle.findIndex(byte => byte > 0x7f)).toBe(-1);
  });
});
