// The folder that `kcovbox serve FOLDER` serves: it may be a stranger's archive with links in it.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { siteOf } from '../../cli/serve/site.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-site-'));
const folder = join(dir, 'page');
const server = createServer((request, response) =>
  siteOf(folder).answer(request, response, () => response.writeHead(404).end()),
);

beforeAll(async () => {
  mkdirSync(join(folder, 'kernels'), { recursive: true });
  writeFileSync(join(folder, 'kernels', 'a'), 'a kernel');
  writeFileSync(join(dir, 'secret'), 'a secret');
  symlinkSync('../secret', join(folder, 'link'));
  symlinkSync('..', join(folder, 'above'));
  symlinkSync('/etc', join(folder, 'etc'));
  symlinkSync('loop', join(folder, 'loop'));
  symlinkSync('nowhere', join(folder, 'gone'));
  symlinkSync('kernels', join(folder, 'same'));
  server.listen(0, '127.0.0.1');
  await new Promise(done => server.once('listening', done));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true });
});

it.each<[string, number]>([
  ['kernels/a', 200],
  ['kernels/a?build', 200],
  ['same/a', 200],
  ['link', 404],
  ['link?build', 404],
  ['above/secret', 404],
  ['etc/passwd', 404],
  ['etc%2fpasswd', 404],
  ['loop', 404],
  ['gone', 404],
  ['%E0%A4%A', 404],
  ['%00', 404],
])('%s: %i', async (path, status) => {
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/${path}`);
  expect(answer.status).toBe(status);
});
