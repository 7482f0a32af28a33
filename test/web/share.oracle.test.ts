// Sharing a run: the address that the page makes opens in a fresh browser as the identical run, and
// addresses of hostile authors end in one sentence. The file that the page saves is for Node, too.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'fflate';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { inflate, parseCapsule } from '../../host/capsule.ts';
import type { CapsuleManifest } from '../../run/capsule/index.ts';
import { writeSealed } from '../../run/capsule/seal.ts';
import { readZip, unpack } from '../../run/capsule/zip.ts';
import { sha256 } from '../../toolchain/index.ts';
import { toAddress } from '../../web/engine/address.ts';
import { readPlace } from '../../web/views/place.ts';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox } from '../support/command.ts';
import { capsuleOf, PATIENCE, settled, WEB } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `sharing skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

/** A program without a C library. */
const SMALL = `
static long call(long n, long a, long b, long c)
{
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = n;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
void _start(void)
{
  call(64, 1, (long)"small\\n", 6);
  call(93, 7, 0, 0);
}
`;

describe.skipIf(reason)('sharing a run', () => {
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-share-'));

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** In a browser that knows nothing of the others. */
  async function opened(address: string): Promise<Page> {
    const context = await site.browser.newContext({ viewport: { width: 1400, height: 860 } });
    const page = await context.newPage();
    site.observed.add(page);
    await page.goto(address);
    await page.waitForSelector('.verdict.same, .verdict.other, .message:not(:empty)');
    await settled(page);
    return page;
  }
  const verdictOf = (page: Page) => page.locator('.verdict').textContent();
  const messageOf = (page: Page) => page.locator('.message').textContent();
  async function shared(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Share' }).click();
    // In a page that several tests use, the closed dialog has the run that was shared before.
    await page.locator('.sharing[open]').waitFor();
    await settled(page);
    const address = await page.locator('.sharing input').inputValue();
    await close(page);
    return address;
  }
  const close = (page: Page) => page.getByRole('button', { name: 'Close' }).first().click();

  it.each(['race', 'kcov-linux'])(
    '%s fits into an address, which is the same run, moment and line elsewhere',
    async id => {
      const page = await site.at(`#program=${id}`);
      await page.keyboard.press('n');
      await settled(page);
      const unit = await page.locator('.unit input').inputValue();
      const now = await page.locator('.l-now').textContent();
      const address = await shared(page);
      expect(new URL(address).hash.length).toBeLessThanOrEqual(8192);
      site.leave(page);

      const other = await opened(address);
      expect(await verdictOf(other)).toBe('identical to the recorded run');
      expect(await other.locator('.verdict').getAttribute('title')).toContain(
        capsuleOf(id).manifest.outcome.stateHash,
      );
      expect(await other.locator('.unit input').inputValue()).toBe(unit);
      expect(await other.locator('.l-now').textContent()).toBe(now);
      // The address stays one of the whole run, while the moment moves.
      await other.keyboard.press('n');
      await settled(other);
      const [before, after] = [address, other.url()].map(one => readPlace(new URL(one).hash));
      expect(after!.run).toBe(before!.run);
      expect(after!.unit).not.toBe(before!.unit);
      await other.context().close();
    },
    PATIENCE,
  );

  it(
    'a small program of one’s own fits, and opens in the page as one file',
    async () => {
      const [source, capsule] = [join(dir, 'small.c'), join(dir, 'small.kcapsule')];
      writeFileSync(source, SMALL);
      const ran = kcovbox(['run', '--cflags', '-nostdlib -static -Os', '--record', capsule, source], {
        cwd: dir,
      });
      expect(ran.status).toBe(7);
      const page = await site.at('#program=hello');
      await page.locator('input[type=file]').setInputFiles(capsule);
      await page.locator('.verdict.same[title*="status 7"]').waitFor();
      await expect.poll(() => page.url()).toBe(site.home); // a file has no address
      const { hash } = new URL(await shared(page));
      expect(hash.length).toBeLessThan(8192);
      site.leave(page);
      const file = await opened(pathToFileURL(join(WEB, 'kcovbox.html')).href + hash);
      expect(await verdictOf(file)).toBe('identical to the recorded run');
      await file.context().close();
    },
    PATIENCE,
  );

  it(
    'a program with a C library does not fit; the file does, and Node repeats it',
    async () => {
      const [source, capsule] = [join(dir, 'own.c'), join(dir, 'own.kcapsule')];
      writeFileSync(source, '#include <stdio.h>\nint main(void) { return puts("own") < 0; }\n');
      expect(kcovbox(['run', '--record', capsule, source], { cwd: dir }).status).toBe(0);
      const page = await site.at('#program=hello');
      await page.locator('input[type=file]').setInputFiles(capsule);
      await page.locator('.message', { hasText: /^$/ }).waitFor({ state: 'attached' });
      await settled(page);
      await page.getByRole('button', { name: 'Share' }).click();
      const text = page.locator('.sharing p', { hasText: 'does not fit into an address: it takes' });
      await text.waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as a file' }).click(),
      ]);
      const saved = join(dir, download.suggestedFilename());
      await download.saveAs(saved);
      expect(download.suggestedFilename()).toBe('own.kcapsule');
      expect(Buffer.compare(readFileSync(saved), readFileSync(capsule))).toBe(0);
      await close(page);
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'a program of the menu is saved whole',
    async () => {
      const page = await site.at('#program=hello');
      await page.getByRole('button', { name: 'Share' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as a file' }).click(),
      ]);
      const saved = join(dir, 'menu.kcapsule');
      await download.saveAs(saved);
      const { parts } = parseCapsule(readFileSync(saved), saved).manifest;
      expect(parts.every(({ isPresent }) => isPresent)).toBe(true);
      const again = kcovbox(['replay', saved], { cwd: dir });
      expect(again.stderr).toContain('the same run');
      await close(page);
      site.leave(page);
    },
    PATIENCE,
  );

  /** The run of hello with another manifest. */
  function forged(change: (manifest: CapsuleManifest) => void): string {
    const file = readFileSync(join(WEB, 'programs', 'hello.kcapsule'));
    const [first, ...rest] = readZip(file, 32);
    const manifest = JSON.parse(new TextDecoder().decode(unpack(first!, inflate))) as CapsuleManifest;
    change(manifest);
    delete manifest.seal;
    return toAddress(writeSealed('manifest.json', manifest, rest, sha256), { instret: 1 })!;
  }
  const instructions = 2_000_000_000;

  it(
    'shows the first difference of a run that is not the recorded one',
    async () => {
      const run = forged(manifest => {
        manifest.outcome.stateHash = '0123456789abcdef';
      });
      const page = await site.at(`#run=${run}`);
      expect(await verdictOf(page)).toMatch(
        /^not the recorded run: stateHash is \w{16}, was 0123456789abcdef$/,
      );
      site.leave(page);
    },
    PATIENCE,
  );

  it.each<[string, () => string, RegExp]>([
    ['of another version', () => '9.AAAA', /^the run in the address has version 9 of the format; /],
    ['that is damaged', () => forged(() => {}).slice(0, 900), /^the run in the address is damaged: /],
    ['that is a script', () => '1.<img src=x onerror=alert(1)>', /^the run in the address is damaged: /],
    [
      'that unpacks to megabytes',
      () => `1.${Buffer.from(deflateSync(new Uint8Array(5_000_000), { level: 9 })).toString('base64url')}`,
      /^the run in the address unpacks to more than 65536 bytes: /,
    ],
    [
      'of a capsule of another version',
      () =>
        forged(manifest => {
          manifest.version = 3 as never;
        }),
      /^capsule of the address has version 3 of the format; /,
    ],
    [
      'with text in place of a number',
      () =>
        forged(manifest => {
          manifest.outcome.records = '<script>alert(1)</script>' as never;
        }),
      /^capsule of the address is damaged: /,
    ],
    [
      'of two billion instructions',
      () =>
        forged(({ outcome }) => {
          Object.assign(outcome, { instret: instructions, time: instructions });
          outcome.runHash.links = Array.from({ length: 202 }, () => '0123456789abcdef');
        }),
      /^the run in the address has 2000000000 instructions; /,
    ],
    [
      'of a program that the page has not',
      () =>
        forged(manifest => {
          manifest.run.images.initrd = '0'.repeat(64);
          manifest.parts.at(-1)!.sha256 = '0'.repeat(64);
        }),
      /^the capsule has no program, and this page has none with sha256 0000000000000000\.\.\./,
    ],
  ])('an address with a run %s is one sentence, and the page goes on', async (what, run, sentence) => {
    const hash = `#run=${encodeURIComponent(run())}`;
    // One of them is there when the page starts; the others come into a page that is open.
    const page = what === 'that is a script' ? await opened(site.home + hash) : await site.at(hash);
    expect(await messageOf(page)).toMatch(sentence);
    expect(await verdictOf(page)).toBe('no run');
    await page.locator('header select').selectOption('bare');
    await page.waitForSelector('.verdict.same');
    expect(await messageOf(page)).toBe('');
    site.leave(page);
  });

  it('a run that does not end is cut, and another program opens meanwhile', async () => {
    // It claims to be a short run, and has the budget of a long one.
    const spin = join(dir, 'spin.kcapsule');
    const source = join(dir, 'spin.c');
    writeFileSync(source, 'void _start(void) { for (;;) __asm__ volatile(""); }\n');
    const flags = ['--cflags', '-nostdlib -static -Os', '--max-insns', '5000000'];
    kcovbox(['run', ...flags, '--record', spin, source], { cwd: dir });
    const thin = parseCapsule(readFileSync(spin), spin).without(new Set(['kernel.bin']));
    const [first, ...rest] = readZip(thin, 32);
    const manifest = JSON.parse(new TextDecoder().decode(unpack(first!, inflate))) as CapsuleManifest;
    manifest.run.budget = 1e12;
    manifest.outcome.time = 1e13;
    manifest.outcome.runHash.interval = 1e12;
    manifest.outcome.runHash.links = Array.from({ length: 2 }, () => '0123456789abcdef');
    delete manifest.seal;
    const run = toAddress(writeSealed('manifest.json', manifest, rest, sha256), { instret: 1 })!;
    const context = await site.browser.newContext();
    const page = await context.newPage();
    site.observed.add(page);
    await page.goto(`${site.home}#run=${run}`);
    await page.waitForSelector('.verdict.busy');
    await page.waitForTimeout(1000);
    await page.locator('header select').selectOption('hello');
    await page.waitForSelector('.verdict.same');
    await page.evaluate(`location.hash = ${JSON.stringify(`#run=${run}`)}`);
    await page.waitForSelector('.verdict.other');
    expect(await verdictOf(page)).toMatch(/^not the recorded run: /);
    await context.close();
  });

  it('another address in an open page opens its run, or goes to its moment', async () => {
    const page = await site.at('#program=hello');
    const address = await shared(page);
    const { unit = 0 } = readPlace(new URL(address).hash);
    await page.evaluate(`location.hash = '#program=hello&unit=${unit + 5}'`);
    await expect.poll(() => page.locator('.unit input').inputValue()).toBe(`${unit + 5}`);
    await page.evaluate(`location.hash = '#program=constants'`);
    await page.locator('.source h2', { hasText: /constants\.c$/ }).waitFor();
    await settled(page);
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(address).hash)}`);
    await page.locator('.source h2', { hasText: /hello\.c$/ }).waitFor();
    await settled(page);
    expect(await verdictOf(page)).toBe('identical to the recorded run');
    expect(await page.locator('.unit input').inputValue()).toBe(`${unit}`);
    site.leave(page);
  });

  it('a moment before the run is its first, one behind it the last', async () => {
    for (const [unit, title] of [
      [0, 'to the beginning'],
      [999_999_999_999_999, 'to the end'],
    ] as const) {
      const page = await site.at(`#program=hello&unit=${unit}`);
      const input = page.locator('.unit input');
      const bound = await input.getAttribute(unit === 0 ? 'min' : 'max');
      expect(await input.inputValue(), title).toBe(bound);
      expect(await messageOf(page)).toBe('');
      site.leave(page);
    }
  });

  it('no page had an error', () => {
    expect(site.observed.errors).toEqual([]);
  });
});
