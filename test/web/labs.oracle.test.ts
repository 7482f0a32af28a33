// Labs 0 to 3 in the page, done by a browser that reads the text there and writes into the editor.
// Chromium executes the machine and computes the score; the oracle is `kcovbox lab test` on Node,
// with the same files: each check with its points and reason, and the hash of the whole.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { COMMAND, kcovbox } from '../support/command.ts';
import { serve } from '../support/static-server.ts';
import { missing } from '../support/tools.ts';
import { buildPage, Observed, WEB } from './built.ts';
import { type LabText, STUDENT } from './student.ts';

const MINUTES = 60_000;
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-page-labs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Judged {
  /** `ID STATUS POINTS/OF`, and the reason of those that did not pass. */
  readonly checks: readonly string[];
  readonly hash: string;
}

/** Files by name, in the folder of a student; judged by Node. */
function onNode(lab: string, files: Readonly<Record<string, string>>, options: readonly string[]): Judged {
  const work = mkdtempSync(join(dir, 'work-'));
  expect(kcovbox(['lab', 'start', lab, work], { cwd: dir }).status).toBe(0);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  const { stdout } = kcovbox(['lab', 'test', ...options], { cwd: work, timeout: 5 * MINUTES });
  const checks = [...stdout.matchAll(/^(\w+) +(\d+\/\d+) {2}([\w-]+): .*\n(?: {2}why +(.*)\n)?/gm)];
  return {
    checks: checks.map(([, status, points, id, why = '']) => `${id} ${status} ${points} ${why}`.trim()),
    hash: /^hash ([0-9a-f]{64})$/m.exec(stdout)?.[1] ?? '',
  };
}

/** Types the files, presses the button, and reads what the page says. */
async function inPage(page: Page, files: Readonly<Record<string, string>>): Promise<Judged> {
  for (const [name, text] of Object.entries(files)) {
    await page.getByRole('navigation', { name: 'files' }).getByRole('button', { name, exact: true }).click();
    await page.getByLabel(name, { exact: true }).click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(text);
  }
  await page.getByRole('button', { name: 'Run the checks' }).click();
  await page.locator('.hash').waitFor({ timeout: 8 * MINUTES });
  const checks = await page.locator('.check:not(.open)').evaluateAll(rows =>
    rows.map(row => {
      const text = (name: string): string => row.querySelector(name)?.textContent ?? '';
      const words = [row.getAttribute('data-check'), text('.status'), text('.points'), text('.why')];
      return words.join(' ').trim();
    }),
  );
  return { checks, hash: await page.locator('.hash').innerText() };
}

/** The lab as a reader sees it. */
async function textOf(page: Page): Promise<LabText> {
  const article = page.getByRole('article', { name: 'text of the lab' });
  const rows = await article
    .locator('table')
    .first()
    .locator('tr')
    .all()
    .catch(() => []);
  const table = await Promise.all(rows.map(row => row.locator('th, td').allInnerTexts()));
  return { text: await article.innerText(), table };
}

describe.skipIf(missing('chromium', existsSync(CHROMIUM) || undefined))('the labs in the page', () => {
  let host: ChildProcess;
  let home: string;
  let browser: Browser;
  const observed = new Observed();

  beforeAll(async () => {
    buildPage();
    host = spawn(process.execPath, [COMMAND, 'serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    home = await new Promise(done => host.stdout!.once('data', chunk => done(`${chunk}`.trim())));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    host?.kill('SIGTERM');
  });

  /** In a profile of its own: nothing is kept. */
  async function opened(address: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    observed.add(page);
    await page.goto(address);
    await page.getByRole('article').waitFor();
    return page;
  }

  it.each([0, 1, 2, 3])('lab %i, from the text alone', { timeout: 20 * MINUTES }, async number => {
    const page = await opened(`${home}labs.html#lab=${number}`);
    const files = STUDENT[number]!(await textOf(page));
    const judged = await inPage(page, files);
    expect(judged.checks.filter(check => !/ (pass|skipped) /.test(check))).toEqual([]);
    expect(judged).toEqual(onNode(`${number}`, files, []));
    expect(observed.errors).toEqual([]);
    await page.context().close();
  });

  it('what fails has its reason, its path and its run, in the page as on Node', async () => {
    const page = await opened(`${home}labs.html#lab=0`);
    const answers = { 'answers.txt': 'error: EBADF\nfunction: read\nfile: <b>x</b>\n' };
    const judged = await inPage(page, answers);
    expect(judged).toEqual(onNode('0', answers, []));
    expect(judged.checks).toContainEqual(expect.stringMatching(/^places fail 0\/60 0 of 3 places ran; /));
    await page.getByRole('button', { name: 'Look at the run' }).click();
    const verdict = page.frameLocator('iframe').locator('.verdict.same');
    await verdict.waitFor();
    expect(await verdict.innerText()).toBe('identical to the recorded run');
    // The same bytes as on Node, and the files are there after a reload.
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save to hand in' }).click();
    const work = join(dir, 'saved');
    kcovbox(['lab', 'start', '0', work], { cwd: dir });
    writeFileSync(join(work, 'answers.txt'), answers['answers.txt']);
    kcovbox(['lab', 'submit', '-o', 'own.zip'], { cwd: work });
    expect(readFileSync(await (await saved).path()).equals(readFileSync(join(work, 'own.zip')))).toBe(true);
    await page.reload();
    await page.getByRole('button', { name: 'answers.txt' }).click();
    await page.getByText('function: read').waitFor();
    expect(observed.errors).toEqual([]);
  });

  it('from a host of files it judges what needs no compiler', async () => {
    const server = serve(WEB).listen(0, '127.0.0.1');
    try {
      await new Promise(done => server.once('listening', done));
      const page = await opened(`http://127.0.0.1:${(server.address() as AddressInfo).port}/labs.html`);
      await page.getByText('kcovbox serve shows this page with one. Here these run: answers.').waitFor();
      const files = STUDENT[0]!(await textOf(page));
      expect(await inPage(page, files)).toEqual(onNode('0', files, ['--only', 'answers']));
    } finally {
      server.close();
    }
  });

  it('compiles for the labs alone: no file of the host, no header that the assembler reads', async () => {
    const build = async (request: unknown): Promise<string> => {
      const answer = await fetch(`${home}build`, { method: 'POST', body: JSON.stringify(request) });
      return `${answer.status} ${(await answer.text()).slice(0, 300)}`;
    };
    const kernel = (files: Record<string, string>) => build({ kind: 'kernel', conf: 'linux+teach', files });
    expect(await kernel({ 'mm/x.c': '#include "/etc/passwd"\n' })).toMatch(
      /^422 .*'\/etc\/passwd' file not found/s,
    );
    expect(await kernel({ 'mm/x.c': '__asm__(".incbin \\"/etc/passwd\\"");\n' })).toMatch(/^422 .*\.incbin/s);
    for (const path of [
      'include/vm.h',
      'boot/start.S',
      'Makefile',
      'conf/linux',
      '../x.c',
      '/x.c',
      'syscall/syscalls.def',
    ])
      expect(await kernel({ [path]: '.incbin "/etc/passwd"\n' }), path).toMatch(/^400 no request/);
    const program = (text: string) =>
      build({ kind: 'program', name: 'p.c', dialect: 'linux', files: { 'p.c': text } });
    expect(await program('#include "/etc/passwd"\n')).toMatch(/^422 .*'\/etc\/passwd' file not found/s);
    for (const request of [
      '',
      'null',
      { kind: 'kernel' },
      { kind: 'program', name: 'p.c', dialect: 'x', files: {} },
    ])
      expect(await build(request)).toMatch(/^400 no request/);
  });
});
