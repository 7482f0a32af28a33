// Pictures of the page in docs/images, of what `npm run web` has built: `node setup/web-
// pictures.mjs` renews them; `--look DIR` instead shows the views at 420 and 1400 pixels in
// both colour schemes, for people to look at.
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { fail, ROOT } from './ensure.mjs';

const WEB = join(ROOT, 'dist', 'web');
const CHROMIUM = '/usr/bin/chromium';
const QUIET = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Picture, address, the buttons that are pressed, and how docs/ shows it. */
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
  { name: 'page-textbook', address: 'textbook.html', buttons: [], inDocs: [1400, 900, 'light'] },
];

const { values } = parseArgs({ options: { look: { type: 'string' } } });
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

async function shoot({ address, buttons }, path, width, height, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  page.setDefaultTimeout(120_000);
  await page.goto(`${home}${address}`);
  const frame = address === '' || address.startsWith('#') ? page : page.frameLocator('iframe').first();
  await frame.locator('.uplot').waitFor();
  for (const button of buttons) {
    const named = page.getByRole('button', { name: button, exact: true });
    await named.or(page.getByTitle(button)).first().click();
  }
  await page.waitForTimeout(1500);
  await frame.locator('.verdict.same').waitFor();
  await page.screenshot({ path });
  await page.close();
  process.stdout.write(`${path}\n`);
}

if (values.look === undefined) {
  for (const view of VIEWS.filter(({ inDocs }) => inDocs))
    await shoot(view, join(ROOT, 'docs', 'images', `${view.name}.png`), ...view.inDocs);
} else {
  for (const view of VIEWS)
    for (const width of [420, 1400])
      for (const scheme of ['light', 'dark'])
        await shoot(view, join(values.look, `${view.name}-${width}-${scheme}.png`), width, 900, scheme);
}
await browser.close();
server.close();
