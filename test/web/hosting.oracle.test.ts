// The teacher's guide: its commands put the page on a host of files, which finds every file that
// the page names. page.oracle.test.ts opens the page from such a host in a browser.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf } from '../../host/lab/prove.ts';
import { ROOT, shell } from '../support/command.ts';
import { serve } from '../support/static-server.ts';
import { buildPage } from './built.ts';

test('the commands of the guide host the page', async () => {
  const guide = readFileSync(join(ROOT, 'docs', 'teaching.md'), 'utf8');
  const [, section = ''] = /^## A page for your students\n([\s\S]*?)^## /m.exec(guide) ?? [];
  const [build, copy, ...others] = commandsOf(section).map(({ command }) => command);
  expect([build, others]).toEqual(['npm run web', []]);
  buildPage(); // the same, where the page is stale
  const site = mkdtempSync(join(tmpdir(), 'kcovbox-site-'));
  mkdirSync(join(site, 'courses'));
  const words = copy!.replace('SITE', () => join(site, 'courses'));
  expect(shell(words, { cwd: ROOT })).toEqual({ status: 0, stdout: '', stderr: '' });
  const server = serve(site).listen(0, '127.0.0.1');
  try {
    await new Promise(done => server.once('listening', done));
    const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/courses/kernel/`;
    const page = await (await fetch(home)).text();
    const named = [...page.matchAll(/\b(?:src|href)="((?!data:)[^"#]+)"/g)].map(([, address]) => address!);
    expect(named.length).toBeGreaterThan(1);
    for (const address of named) {
      const { href } = new URL(address, home);
      expect(href.startsWith(home), address).toBe(true);
      expect((await fetch(href)).status, address).toBe(200);
    }
  } finally {
    server.close();
    rmSync(site, { recursive: true, force: true });
  }
}, 600_000);
