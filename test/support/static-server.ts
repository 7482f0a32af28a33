// A host of static files as plain as there is: no header but the type.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
};

/** Serves the files below `dir`, at `prefix`. */
export function serve(dir: string, prefix = '/'): Server {
  return createServer(({ url = '/' }, response) => {
    const whole = decodeURIComponent(new URL(url, 'http://site').pathname);
    const path = whole.slice(prefix.length - 1);
    const file = join(dir, path.endsWith('/') ? `${path}index.html` : path);
    if (!whole.startsWith(prefix) || path.includes('..') || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
}
