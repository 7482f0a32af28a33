// `kcovbox serve` and the page that it serves, through the command: C that is written in Chromium
// is compiled, recorded and run in the page. Others on this machine get nothing.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { COMMAND, ROOT } from '../support/command.ts';
import { buildPage } from './built.ts';
import { BASELINE } from './hosted.ts';

const reason = !existsSync(CHROMIUM)
  ? `no ${CHROMIUM}`
  : !hasGlibc() || !findTool('clang')
    ? 'no compiler of programs'
    : undefined;
if (reason) console.warn(`serve skipped: ${reason}`);
const PATIENCE = 120_000;

const SOURCE = `#include <stdio.h>
int twice(int x)
{
  return 2 * x;
}
int main(int argc, char **argv)
{
  printf("twice is %d\\n", twice(21));
  return argc + 1;
}
`;

describe.skipIf(reason)('kcovbox serve', () => {
  let serve: ChildProcess;
  let home: string;
  let browser: Browser;

  beforeAll(async () => {
    buildPage();
    serve = spawn(process.execPath, [COMMAND, 'serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    home = await new Promise(done => serve.stdout!.once('data', chunk => done(`${chunk}`.trim())));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...BASELINE] });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    serve?.kill('SIGTERM');
  });

  const compile = async (source: string | Uint8Array, query = ''): Promise<[number, string]> => {
    const answer = await fetch(`${home}compile${query}`, { method: 'POST', body: source as string });
    return [answer.status, await answer.text()];
  };

  it(
    'C that is written in the page runs in it, with its lines',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
      page.setDefaultTimeout(PATIENCE);
      const errors: string[] = [];
      page.on('pageerror', error => errors.push(error.message));
      await page.goto(home);
      await page.getByRole('button', { name: 'Write C' }).click();
      const editor = page.getByLabel('C program');
      // Keys go to the program at once; Chromium would give the focus to its scroller.
      await page.locator('[aria-label="C program"]:focus').waitFor();
      // The keys of an editor come behind the page: Tab indents.
      await expect
        .poll(async () => {
          await editor.focus();
          await page.keyboard.press('Tab');
          return editor.locator('.cm-line').first().textContent();
        })
        .toMatch(/^\s+#include/);
      await editor.fill('int main(void) { return nothing; }');
      await page.getByRole('button', { name: 'Compile and run' }).click();
      await page.getByText(/program\.c:1:25: error: use of undeclared identifier 'nothing'/).waitFor();
      await page.getByLabel('arguments').fill('63 a');
      await editor.fill(SOURCE);
      const asked: string[] = [];
      page.on('request', request => request.method() === 'POST' && asked.push(request.url()));
      // Impatience changes nothing.
      for (let n = 0; n < 3; n++) await page.keyboard.press('Control+Enter');
      await page.waitForSelector('.verdict.same[title*="status 4"]');
      expect(asked).toHaveLength(1);
      // The moment is the beginning of main, in the text that was written.
      await page.locator('.editor .cm-line.l-now', { hasText: 'printf' }).waitFor();
      await page.keyboard.press('s');
      await page.locator('.editor .cm-line.l-now', { hasText: 'return 2 * x' }).waitFor();
      expect(errors).toEqual([]);
      await page.close();
    },
    PATIENCE,
  );

  /** A page whose compiler has been asked and has not answered yet. */
  async function compiling(): Promise<{ page: Page; go: () => void }> {
    const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
    page.setDefaultTimeout(PATIENCE);
    await page.goto(home);
    await page.waitForSelector('.verdict.same');
    let go = (): void => {};
    const held = new Promise<void>(done => {
      go = done;
    });
    await page.route('**/compile*', async route => {
      const response = await route.fetch({ timeout: PATIENCE });
      await held;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Write C' }).click();
    await page.getByLabel('C program').fill('int main(void) { return 4; }');
    const sent = page.waitForRequest('**/compile*');
    await page.getByRole('button', { name: 'Compile and run' }).click();
    await sent;
    await page.getByRole('button', { name: 'Close' }).click();
    return { page, go };
  }

  it('a compile that ends when another program was chosen leaves the page to that one', {
    timeout: PATIENCE,
  }, async () => {
    const { page, go } = await compiling();
    await page.locator('header > label select').selectOption('hello');
    await page.waitForSelector('.verdict.same');
    go();
    await page.getByText('another run was opened meanwhile').waitFor({ state: 'attached' });
    expect(await page.locator('header > label select').inputValue()).toBe('hello');
    expect(await page.locator('.source h2').textContent()).toMatch(/hello\.c$/);
    await page.close();
  });

  it('a file that is refused meanwhile does not stop a compile', { timeout: PATIENCE }, async () => {
    const { page, go } = await compiling();
    const none = { name: 'none.kcapsule', mimeType: '', buffer: Buffer.from('no run') };
    await page.locator('input[type=file]').setInputFiles(none);
    await page.locator('.message', { hasText: 'none.kcapsule' }).waitFor();
    go();
    await page.waitForSelector('.verdict.same[title*="status 4"]');
    await page.close();
  });

  it('compiles where the browser keeps nothing', { timeout: PATIENCE }, async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.message));
    await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', {
      get() { throw new DOMException('denied', 'SecurityError'); },
    })`);
    await page.goto(home);
    await page.getByRole('button', { name: 'Write C' }).click();
    await page.getByLabel('C program').fill('int main(void) { return 3; }');
    await page.getByRole('button', { name: 'Compile and run' }).click();
    await page.waitForSelector('.verdict.same[title*="status 3"]');
    expect(errors).toEqual([]);
    await page.close();
  });

  it('reads no file of the host for a program', { timeout: PATIENCE }, async () => {
    const main = 'int main(void) { return 0; }\n';
    const secrets = [
      ['#include "/etc/passwd"\n', /'\/etc\/passwd' file not found/],
      ['#include "../../../../../../etc/passwd"\n', /file not found/],
      ['#if __has_include("/etc/passwd")\n#error it is there\n#endif\n#error no\n', /error: no\n/],
      ['const char text[] = {\n#embed "/etc/passwd"\n};\n', /'\/etc\/passwd' file not found/],
      ['__asm__(".incbin \\"/etc/passwd\\"");\n', /inline assembly is disabled/],
    ] as const;
    for (const [text, answer] of secrets) {
      const [status, said] = await compile(text + main);
      expect(status, text).toBe(422);
      expect(said).toMatch(answer);
      expect(said).not.toMatch(/root:|kcovbox-serve-/);
    }
    // The linker would quote the file.
    const [status, said] = await compile(`#pragma comment(lib, "/etc/passwd")\n${main}`);
    expect(status).toBe(200);
    expect(said).not.toContain('root:');
  });

  it('refuses what is too large, of no dialect, of no number of harts, or with long arguments, in one line', async () => {
    const line = /^[^\n]+\n$/;
    for (const [source, query] of [
      [new Uint8Array(300_000), ''],
      ['', '?dialect=plan9'],
      ['', '?harts=0'],
      ['', '?harts=1e9'],
      ['', `?args=${'x'.repeat(1001)}`],
      ['', '?args=a%0ab'],
    ] as const) {
      const [status, said] = await compile(source, query);
      expect(status).toBe(400);
      expect(said).toMatch(line);
    }
  });

  it('answers nobody without the secret, with another name of the host, or from another page', async () => {
    const url = new URL(home);
    const status = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number> =>
      new Promise((done, failed) => {
        const asked = request({ host: '127.0.0.1', port: url.port, path, headers, method }, response => {
          response.resume();
          done(response.statusCode!);
        });
        asked.on('error', failed).end();
      });
    expect(await status(url.pathname)).toBe(200);
    expect(await status('/')).toBe(404);
    expect(await status('/assets.packed')).toBe(404);
    expect(await status(`/${'0'.repeat(32)}/`)).toBe(404);
    expect(await status(url.pathname, { host: `evil.example:${url.port}` })).toBe(404);
    expect(await status(`${url.pathname}compile`, { origin: 'http://evil.example' }, 'POST')).toBe(403);
    for (const path of [
      '../package.json',
      '%2e%2e/package.json',
      '..%2fpackage.json',
      'a/../../package.json',
    ])
      expect(await status(url.pathname + path), path).toBe(404);
  });

  it('goes on after requests that break off', async () => {
    const url = new URL(`${home}compile`);
    for (let n = 0; n < 5; n++)
      await new Promise<void>(done => {
        const asked = request(url, { method: 'POST', headers: { 'content-length': '1000' } });
        asked.on('error', () => done());
        asked.write('int main');
        setTimeout(() => asked.destroy(), 50);
      });
    expect((await fetch(home)).status).toBe(200);
    expect((await fetch(`${home}%E0%A4%A`)).status).toBe(404);
  });

  it('ends in order, and leaves nothing behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kcovbox-serve-test-'));
    const own = spawn(process.execPath, [COMMAND, 'serve', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: folder },
    });
    await new Promise(done => own.stdout!.once('data', done));
    expect(readdirSync(folder)).toHaveLength(1);
    const ended = new Promise(done => own.once('exit', done));
    own.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('says in one line that there is no page, or that the port is taken', () => {
    const run = (...args: string[]): string => {
      try {
        execFileSync(process.execPath, [COMMAND, 'serve', ...args], { encoding: 'utf8', stdio: 'pipe' });
        return 'status 0';
      } catch (error) {
        return (error as { stderr: string }).stderr;
      }
    };
    expect(run(join(ROOT, 'docs'))).toMatch(
      /^kcovbox: serve: .*docs holds no page: it has no assets\.packed\n$/,
    );
    const { port } = new URL(home);
    expect(run('--port', port)).toBe(
      `kcovbox: serve: port ${port}: another program has this port; choose one with --port, 0 for any\n`,
    );
  });
});
