// The pictures of the coverage report in docs/images, made from what the command writes: the guest
// kernel covered by its own tests. `node setup/pictures.mjs` renews them, or writes them into
// `--out DIR`; `--look DIR` instead shows every view at 420 and 1400 pixels in both colour schemes,
// for people to look at; `--traces DIR` keeps the traces there and takes them if they exist.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { ROOT } from './ensure.mjs';

const TESTS = 'clocks devices files memory pipes processes signals sockets threads'.split(' ');
const CHROMIUM = '/usr/bin/chromium';
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
];

/** A partly covered line with points of which some were taken. */
const DETAIL = 'tr.p:has-text("while (p->len < limit") .h button';

/** Picture, address, and what is clicked. */
const PICTURES = [
  ['coverage-source', '#/file/kernel/fs/pipe.c', [DETAIL]],
  ['coverage-calls', '#/calls', []],
];
const VIEWS = [
  ['files', '#/', []],
  ['only', '#/?only=test:pipes', []],
  ['source', '#/file/kernel/fs/pipe.c', [DETAIL]],
  ['functions', '#/functions', []],
  ['calls', '#/calls', []],
  ['tests', '#/tests', []],
  ['compare', '#/compare?a=test:pipes&b=test:sockets', []],
  ['differences', '#/file/kernel/fs/pipe.c?a=test:pipes&b=test:sockets', []],
];

const { values } = parseArgs({
  options: { look: { type: 'string' }, out: { type: 'string' }, traces: { type: 'string' } },
});
const out = values.out ?? join(ROOT, 'docs', 'images');
const dir = values.traces ?? mkdtempSync(join(tmpdir(), 'kcovbox-pictures-'));
mkdirSync(dir, { recursive: true });

function kcovbox(...args) {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin', 'kcovbox.cjs'), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`kcovbox ${args.join(' ')}: status ${status}\n${stderr}`);
}

const traces = TESTS.map(test => join(dir, `${test}.kcov`));
for (const [i, test] of TESTS.entries()) {
  if (!existsSync(traces[i]))
    kcovbox('run', '--dialect', 'linux', '--trace', '--cover', traces[i], `guest-programs/tests/${test}.c`);
}
const report = join(dir, 'suite.html');
kcovbox('cov', 'report', ...traces, '--title', 'Guest kernel, covered by its own tests', '-o', report);

const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });

async function shoot([name, hash, clicks], folder, width, height, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(`file://${report}${hash}`);
  for (const selector of clicks) await page.locator(selector).first().click();
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  await page.close();
  console.log(path);
}

if (values.look === undefined) for (const picture of PICTURES) await shoot(picture, out, 1400, 860, 'light');
else
  for (const [name, hash, clicks] of VIEWS)
    for (const width of [420, 1400])
      for (const scheme of ['light', 'dark'])
        await shoot([`${name}-${width}-${scheme}`, hash, clicks], values.look, width, 900, scheme);
await browser.close();
if (values.traces === undefined) rmSync(dir, { recursive: true, force: true });
