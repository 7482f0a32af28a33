// Capsules of whole machines in the page: the runs that `kcovbox boot --record` recorded, with
// their hashes. A kernel with kcov, a bare-metal ELF file with debug information, and firmware
// alone.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCapsule } from '../../host/capsule.ts';
import { findTool } from '../../toolchain/index.ts';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { kcovbox } from '../support/command.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, PATIENCE, settled, WEB } from './built.ts';

const [CLANG, LD] = [findTool('clang')!, findTool('ld')!];
const reason = !existsSync(CHROMIUM)
  ? `whole machines skipped: no ${CHROMIUM}`
  : !(CLANG && LD)
    ? 'whole machines skipped: no compiler'
    : undefined;
if (reason) console.warn(reason);

/** Prints a digit, and ends through the finisher. */
const BARE = `
static volatile unsigned *const uart = (unsigned *)0x10000000;
int sum(int n)
{
	int all = 0;
	for (int i = 1; i <= n; i++)
		all += i;
	return all;
}
__attribute__((naked)) void _start(void)
{
	__asm__("li sp, 0x80100000; j work");
}
void work(void)
{
	*(volatile unsigned char *)uart = '0' + sum(5) / 5;
	*(volatile unsigned char *)uart = '\\n';
	*(volatile unsigned *)0x100000 = END;
	for (;;)
		;
}
`;
const POWEROFF = '0x5555';
const REBOOT = '0x7777';

describe.skipIf(reason)('a whole machine in the page', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-boot-page-'));
  const at = (name: string): string => join(dir, name);
  let server: Server;
  let browser: Browser;
  let home: string;
  const observed = new Observed();

  function bare(name: string, end: string): string {
    writeFileSync(at(`${name}.c`), BARE);
    const flags = ['--target=riscv64-unknown-elf', '-march=rv64gc', '-mcmodel=medany', '-g', '-O0'];
    const object = at(`${name}.o`);
    execFileSync(CLANG, [...flags, `-DEND=${end}`, '-c', '-o', object, at(`${name}.c`)]);
    execFileSync(LD, ['-Ttext=0x80000000', '-o', at(name), object]);
    return at(name);
  }

  /** The capsule of a boot. */
  function recorded(name: string, ...words: string[]): string {
    const path = at(`${name}.kcapsule`);
    const ran = kcovbox(['boot', ...words, '--record', path], { cwd: dir });
    expect(existsSync(path), ran.stderr).toBe(true);
    return path;
  }

  beforeAll(async () => {
    buildPage();
    server = serve(WEB, '/').listen(0, '127.0.0.1');
    await new Promise(done => server.once('listening', done));
    home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function opened(path: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
    observed.add(page);
    await page.goto(home);
    await page.waitForSelector('.verdict.same');
    await page.locator('input[type=file]').setInputFiles(path);
    await page.waitForTimeout(100);
    await page.waitForSelector('.verdict:not(.busy)');
    return page;
  }
  async function expectSame(page: Page, path: string): Promise<void> {
    const { outcome } = parseCapsule(readFileSync(path), path).manifest;
    expect(await page.locator('.message').textContent()).toBe('');
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    expect(await page.locator('.verdict').getAttribute('title')).toContain(outcome.stateHash);
  }

  it(
    'a kernel with kcov: its run, its lines and its moments',
    async () => {
      const kernel = kcovbox(['build', 'kernel'], { cwd: dir }).stdout.trim();
      const path = recorded('kernel', '-kernel', kernel, '-m', '64M');
      const page = await opened(path);
      await expectSame(page, path);
      await page.getByLabel('filter files').fill('boot/main.c');
      await page.getByRole('button', { name: /boot\/main\.c/ }).click();
      await page.waitForSelector('.l-covered');
      await page.keyboard.press('>');
      await settled(page);
      expect(await page.locator('.calls').textContent()).toMatch(/kernel\/.*\.[cS]/);
      await page.close();
    },
    PATIENCE,
  );

  it(
    'a bare-metal ELF file: its calls and variables, and steps in both directions',
    async () => {
      const path = recorded('bare', '-bios', 'none', '-kernel', bare('bare.elf', POWEROFF));
      const page = await opened(path);
      await expectSame(page, path);
      const unitOf = async () => Number(await page.locator('.unit input').inputValue());
      await page.keyboard.press('i');
      await settled(page);
      const unit = await unitOf();
      await page.keyboard.press('i');
      await settled(page);
      expect(await unitOf()).toBe(unit + 1);
      await page.keyboard.press('I');
      await settled(page);
      expect(await unitOf()).toBe(unit);
      // Calls and variables come from its debug information.
      for (let k = 0; k < 12 && !(await page.locator('.calls').textContent())?.includes('sum'); k++) {
        await page.keyboard.press('s');
        await settled(page);
      }
      expect(await page.locator('.calls').textContent()).toContain('sum');
      expect(await page.locator('.state dt', { hasText: /^n$/ }).count()).toBe(1);
      await page.close();
    },
    PATIENCE,
  );

  it(
    'firmware alone has registers and a console',
    async () => {
      const path = recorded('firmware', '-bios', bare('firmware.elf', POWEROFF));
      const page = await opened(path);
      await expectSame(page, path);
      await page.keyboard.press('>');
      await settled(page);
      await page
        .locator('.terminal .xterm-accessibility-tree > div', { hasText: '3' })
        .first()
        .waitFor({ state: 'attached' });
      await page.close();
    },
    PATIENCE,
  );

  it(
    'a reboot ends the run with -no-reboot',
    async () => {
      const image = bare('again.elf', REBOOT);
      const once = recorded('once', '-bios', 'none', '-kernel', image, '-no-reboot');
      const page = await opened(once);
      await expectSame(page, once);
      await page.close();
    },
    PATIENCE,
  );

  it('reports no error', () => expect(observed.errors).toEqual([]));
});
