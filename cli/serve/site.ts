// The files of the page: a folder that was built, or what the package holds of it.
import { readFileSync, realpathSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import sirv from 'sirv';
import { kernelParts } from '../../host/kernel-parts.ts';
import { labsForPage } from '../../host/lab/portable.ts';
import { packageRoot, prebuiltKernels, prebuiltPage } from '../../toolchain/index.ts';

/** A page that can be served. */
export interface Site {
  /** assets.packed, unpacked. */
  readonly index: () => object;
  /** Answers a request whose `url` is the path of a file; `otherwise`: there is none. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void;
}

const INDEX = 'assets.packed';
/** Made of labs/, which the package has. */
const LABS = 'labs.packed';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
/** Of gzip: the line is short. */
const LEVEL = 1;

export function siteOf(folder: string): Site {
  const answer = sirv(folder, { dev: true, etag: true });
  return {
    index: () => JSON.parse(gunzipSync(readFileSync(join(folder, INDEX))).toString()),
    answer: (request, response, otherwise) =>
      leadsOut(folder, request.url ?? '/') ? otherwise() : answer(request, response, otherwise),
  };
}

/** Is there a symbolic link to a place outside of the folder? It may be a stranger's archive. */
function leadsOut(folder: string, url: string): boolean {
  try {
    const path = realpathSync(join(folder, decodeURIComponent(url.replace(/\?.*/, ''))));
    return relative(realpathSync(folder), path).startsWith('..');
  } catch {
    return false; // there is no such file
  }
}

/** The used part of the index (web/protocol.ts). */
interface Index {
  readonly kernels: readonly {
    readonly dialect: string;
    readonly load: { readonly path: string };
    readonly lines: { readonly path: string };
    readonly rest: string;
  }[];
  readonly sources: { readonly folder: string; readonly names: Readonly<Record<string, readonly string[]>> };
}

/**
 * The page of the installed package; undefined where it has none. Its kernels, sources and labs are
 * those of the package, and are packed when they are asked for: the page compares kernels with the
 * hashes of its index.
 */
export function packagedSite(): Site | undefined {
  const files = new Map(prebuiltPage());
  const packed = files.get(INDEX);
  if (!packed) return undefined;
  const index = JSON.parse(new TextDecoder().decode(packed)) as Index;
  const { folder, names } = index.sources;
  const paths = Object.entries(names).flatMap(([inside, all]) => all.map(name => `${inside}/${name}`));
  const sources = new Map(paths.map(path => [`${folder}/${path}.packed`, path]));
  const bytesOf = (path: string): Uint8Array | undefined => {
    const kernel = index.kernels.find(({ load, lines, rest }) =>
      [load.path, lines.path, rest].includes(path),
    );
    if (kernel && !files.has(path)) {
      const image = prebuiltKernels().find(({ conf }) => conf === kernel.dialect);
      if (!image) return undefined; // a damaged package
      const { load, lines, rest } = kernelParts(image.bytes, kernel.dialect);
      files.set(kernel.load.path, load).set(kernel.lines.path, lines).set(kernel.rest, rest);
    }
    if (path === LABS) return Buffer.from(JSON.stringify(labsForPage()));
    const source = sources.get(path);
    return source === undefined ? files.get(path) : readFileSync(join(packageRoot(), source));
  };
  return {
    index: () => index,
    answer({ url = '/', method }, response, otherwise) {
      const path = decodeURI(url.slice(1)) || 'index.html';
      const bytes = bytesOf(path);
      if (!bytes) return otherwise();
      const body = path.endsWith('.packed') ? gzipSync(bytes, { level: LEVEL }) : bytes;
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, 'content-length': body.length });
      response.end(method === 'HEAD' ? undefined : body);
    },
  };
}
