// Capsules of whole machines in the page: the runs that `kcovbox boot --record` recorded, with
// their hashes. A kernel with kcov, a bare-metal ELF file with debug information, and firmware
// alone.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { inflate, parseCapsule } from '../../host/capsule.ts';
import { writeSealed } from '../../run/capsule/seal.ts';
import { readZip, unpack } from '../../run/capsule/zip.ts';
import { findTool, sha256 } from '../../toolchain/index.ts';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox } from '../support/command.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

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
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-boot-page-'));
  const at = (name: string): string => join(dir, name);

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

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  async function opened(path: string): Promise<Page> {
    const page = await site.at();
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
      site.leave(page);
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
      const n = page.locator('.state dl div', { has: page.getByRole('button', { name: 'n', exact: true }) });
      expect(await n.locator('dd').textContent()).toMatch(/^5/);
      // At the first instruction of the function its frame is still to be made.
      for (const key of ['F', 'i']) {
        await page.keyboard.press(key);
        await settled(page);
      }
      expect(await page.locator('.calls li').first().textContent()).toContain('sum');
      expect(await n.locator('dd').textContent()).toBe('not yet stored');
      for (let k = 0; k < 12 && (await n.locator('dd').textContent()) === 'not yet stored'; k++) {
        await page.keyboard.press('i');
        await settled(page);
      }
      expect(await n.locator('dd').textContent()).toMatch(/^5/);
      site.leave(page);
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
      site.leave(page);
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
      // No command records a machine that goes on behind its reboot; a stranger may say so.
      const [file, ...rest] = readZip(readFileSync(once), 32);
      expect(file!.name).toBe('manifest.json');
      const manifest = JSON.parse(new TextDecoder().decode(unpack(file!, inflate))) as {
        seal?: string;
        run: { noReboot: boolean };
      };
      manifest.run.noReboot = false;
      delete manifest.seal;
      writeFileSync(at('more.kcapsule'), writeSealed('manifest.json', manifest, rest, sha256));
      await page.locator('input[type=file]').setInputFiles(at('more.kcapsule'));
      await page.locator('.message', { hasText: 'reboots' }).waitFor();
      expect(await page.locator('.message').textContent()).toBe(
        'this run reboots its machine: kcovbox replay runs it, this page does not',
      );
      expect(await page.locator('.verdict').textContent()).toBe('no run');
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'a machine that the browser has no memory for is one line, and the page goes on',
    async () => {
      const path = recorded('large', '-bios', 'none', '-kernel', bare('large.elf', POWEROFF), '-m', '1G');
      const page = await site.browser.newPage();
      site.observed.add(page);
      // As Chromium answers where there is no memory left, for memories of 512 MiB and more.
      await page.addInitScript(`globalThis.Worker = class extends Worker {
        constructor(address) {
          super(URL.createObjectURL(new Blob([\`
            const { Memory } = WebAssembly;
            WebAssembly.Memory = class extends Memory {
              constructor(size) {
                if (size.initial >= 8192) throw new RangeError('WebAssembly.Memory(): could not allocate memory');
                super(size);
              }
            };
            importScripts('\${address}');\`])));
        }
      }`);
      await page.goto(site.home);
      await page.waitForSelector('.verdict.same');
      await page.locator('input[type=file]').setInputFiles(path);
      await page.locator('.message:not(:empty)').waitFor();
      expect(await page.locator('.message').textContent()).toBe(
        'this browser has no room for a machine with 1024 MiB of RAM; kcovbox replay runs it',
      );
      await page.locator('header select').selectOption('hello');
      await page.locator('.verdict.same').waitFor();
      expect(await page.locator('.message').textContent()).toBe('');
      // The first of several files, too: the reason, and not that the others are not open.
      const bytes = readFileSync(path).toString('base64');
      await page.evaluate(`{
        const bytes = Uint8Array.from(atob('${bytes}'), letter => letter.charCodeAt(0));
        const drop = new DragEvent('drop', { dataTransfer: new DataTransfer() });
        for (const name of ['one', 'two']) drop.dataTransfer.items.add(new File([bytes], name));
        dispatchEvent(drop);
      }`);
      await page.locator('.verdict.none').waitFor();
      expect(await page.locator('.message').textContent()).toMatch(/^this browser has no room for a machine/);
      await page.close();
    },
    PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
