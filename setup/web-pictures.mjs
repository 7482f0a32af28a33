// Pictures of the page in docs/images, of what `npm run web` has built: `node setup/web-
// pictures.mjs` renews them; `--look DIR` instead shows the views at 420 and 1400 pixels in
// both colour schemes, for people to look at; with `--only WORD` those whose name has the word.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { fail, ROOT } from './ensure.mjs';

const WEB = join(ROOT, 'dist', 'web');
const CHROMIUM = '/usr/bin/chromium';
const QUIET = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const press =
  (...keys) =>
  async page => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForSelector('.verdict:not(.busy)');
    }
  };
const give = (name, buffer) => page =>
  page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });

/**
 * Picture, address, the buttons that are pressed, more acts, the verdict that is waited for, and
 * how docs/ shows it.
 */
const VIEWS = [
  { name: 'page', address: '', buttons: ['Calls'], inDocs: [1400, 900, 'light'] },
  {
    name: 'page-datum',
    address: '#program=bare',
    buttons: ['to the end of the run', 'follow word 0 as a datum', 'who wrote the datum?'],
    inDocs: [1400, 900, 'light'],
  },
  {
    name: 'page-buffer',
    address: '#program=constants',
    buttons: ['to the end of the run', 'Functions'],
    inDocs: [1400, 900, 'dark'],
  },
  { name: 'page-phone', address: '#program=hello', buttons: [], inDocs: [420, 900, 'light'] },
  { name: 'page-remote', address: '#program=remote-linux', buttons: ['to the end of the run'] },
  {
    name: 'page-harts',
    address: '#program=race',
    buttons: ['Functions'],
    acts: async page => {
      await press('n', 'b', 'm')(page);
      await page.locator('.state summary').click();
    },
  },
  { name: 'page-functions', address: '#program=interrupt', buttons: ['Functions'] },
  { name: 'page-crash', address: '#program=overrun', buttons: ['to the end of the run'], acts: press('c') },
  { name: 'page-share', address: '#program=bare', buttons: ['Share'] },
  { name: 'page-keys', address: '#program=bare', buttons: [], acts: press('?') },
  {
    name: 'page-opened',
    address: '#program=kcov-linux',
    buttons: [],
    acts: async page => {
      await give('a-run-of-somebody.kcapsule', readFileSync(join(WEB, 'programs', 'lost.kcapsule')))(page);
      // The run before it stays until the file is known to have one.
      await page.locator('.source h2', { hasText: /lost\.c$/ }).waitFor();
    },
  },
  {
    name: 'page-refused',
    address: '#program=bare',
    buttons: [],
    acts: page =>
      give('damaged.kcapsule', readFileSync(join(WEB, 'programs', 'lost.kcapsule')).subarray(0, 2000))(page),
  },
  { name: 'page-no-run', address: '#run=damaged', buttons: [], verdict: '.verdict.none', ready: '.message' },
  { name: 'page-labs', address: 'labs.html', buttons: [], verdict: 'article', ready: 'article' },
  { name: 'page-file', address: 'kcovbox.html', buttons: [] },
  { name: 'page-textbook', address: 'textbook.html', buttons: [], inDocs: [1400, 900, 'light'] },
];

const { values } = parseArgs({
  options: { look: { type: 'string' }, only: { type: 'string', default: '' } },
});
if (!existsSync(join(WEB, 'index.html'))) fail('the page is not built; build it with: npm run web');

const server = createServer(({ url }, response) => {
  const path = normalize(decodeURIComponent(new URL(url, 'http://page').pathname)).replace(
    /\/$/,
    '/index.html',
  );
  const file = join(WEB, path);
  if (!file.startsWith(WEB) || !existsSync(file)) response.writeHead(404).end();
  else {
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    createReadStream(file).pipe(response);
  }
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const home = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });

async function shoot(
  { address, buttons, acts = () => {}, verdict = '.verdict.same', ready = '.uplot' },
  path,
  { width, height, colorScheme, fullPage },
) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  page.setDefaultTimeout(120_000);
  await page.goto(`${home}${address}`);
  const frame = address.startsWith('textbook') ? page.frameLocator('iframe').first() : page;
  await frame.locator(ready).first().waitFor({ state: 'attached' });
  for (const button of buttons) {
    const named = page.getByRole('button', { name: button, exact: true });
    await named.or(page.getByTitle(button)).first().click();
  }
  await acts(page);
  await page.waitForTimeout(1500);
  await frame.locator(verdict).first().waitFor();
  await page.screenshot({ path, fullPage });
  await page.close();
  process.stdout.write(`${path}\n`);
}

if (values.look === undefined) {
  for (const view of VIEWS.filter(({ inDocs }) => inDocs)) {
    const [width, height, colorScheme] = view.inDocs;
    await shoot(view, join(ROOT, 'docs', 'images', `${view.name}.png`), { width, height, colorScheme });
  }
} else {
  for (const view of VIEWS.filter(({ name }) => name.includes(values.only)))
    for (const width of [420, 1400])
      for (const colorScheme of ['light', 'dark'])
        await shoot(view, join(values.look, `${view.name}-${width}-${colorScheme}.png`), {
          ...{ width, height: 900, colorScheme, fullPage: width < 1000 },
        });
}
await browser.close();
server.close();
