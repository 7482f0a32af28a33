// The host of the page on this machine. Every address begins with a secret word, so that another
// page of the browser, or another user of the machine, can neither read from it nor have C compiled
// (docs/threat-model.md).
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { labsForPage } from '../../host/lab/portable.ts';
import { DIALECTS, type Dialect } from '../../toolchain/index.ts';
import { type Builder, REQUEST_MAX } from './builder.ts';
import { type ProgramRequest, type Recorder, SOURCE_MAX } from './recorder.ts';
import type { Site } from './site.ts';

const HARTS_MAX = 8;
/** Letters of all arguments together. */
const ARGS_MAX = 1000;
const STATUS = { capsule: 200, refused: 422, busy: 503, slow: 504, failed: 500 } as const;
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const;

export interface Compilers {
  readonly recorder: Recorder;
  readonly builder: Builder;
}

export interface PageServer {
  readonly server: Server;
  /** The path of the page, with the secret. */
  readonly path: string;
}

/** Without compilers nothing is compiled. */
export function pageServer(site: Site, compilers: Compilers | undefined): PageServer {
  const { recorder, builder } = compilers ?? {};
  const secret = randomBytes(16).toString('hex');
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const rest = restOf(request, secret);
    if (rest === undefined) plain(response, 404, 'not found: take the whole address that serve printed');
    else if (rest === 'compile') await compile(request, response, recorder);
    else if (rest === 'build') await build(request, response, builder);
    else if (request.method !== 'GET' && request.method !== 'HEAD') plain(response, 405, 'only GET');
    else if (rest === 'assets.packed' && recorder) assets(response, site);
    else if (rest === 'labs.packed' && builder) labs(response);
    else {
      request.url = `/${rest}`;
      site.answer(request, response, () => plain(response, 404, 'no such file'));
    }
  }
  const server = createServer((request, response) => {
    // A request that breaks off, or a page that is just being built, ends its own answer only.
    answer(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else plain(response, 500, error.message);
    });
  });
  return { server, path: `/${secret}/` };
}

/** The path behind the secret; undefined for anybody who does not know it. */
function restOf({ url = '/', headers, socket }: IncomingMessage, secret: string): string | undefined {
  // A name that a stranger lets point to this machine is refused (DNS rebinding).
  const port = socket.localPort;
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) return undefined;
  const [, word, rest] = /^\/([^/]*)\/([^?#]*)/.exec(url) ?? [];
  if (word?.length !== secret.length || rest === undefined) return undefined;
  return timingSafeEqual(Buffer.from(word), Buffer.from(secret)) ? rest : undefined;
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** The index of the page, with the address of the compiler. */
function assets(response: ServerResponse, site: Site): void {
  bytes(response, gzipSync(JSON.stringify({ ...site.index(), compiler: 'compile' })));
}

/** The labs of this package, whose kernel is compiled; the page may be of another one. */
const labs = (response: ServerResponse): void =>
  bytes(response, gzipSync(JSON.stringify({ ...labsForPage(), builder: 'build' })));

/** Does the page on this machine ask? Else it has its answer. */
function isOwnPost({ method, headers }: IncomingMessage, response: ServerResponse, isOn: boolean): boolean {
  const { origin, host } = headers;
  if (!isOn) plain(response, 404, 'serve was started with --no-compile');
  else if (method !== 'POST') plain(response, 405, 'only POST');
  else if (origin !== undefined && origin !== `http://${host}`) plain(response, 403, 'another origin');
  else return true;
  return false;
}

const bytes = (response: ServerResponse, contents: Uint8Array): void =>
  void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(contents);

async function compile(
  request: IncomingMessage,
  response: ServerResponse,
  recorder: Recorder | undefined,
): Promise<void> {
  if (!isOwnPost(request, response, recorder !== undefined)) return;
  const wanted = await requestOf(request);
  if (typeof wanted === 'string') return plain(response, 400, wanted);
  const recorded = await recorder!.record(wanted, () => !response.destroyed);
  if (response.destroyed) return;
  if (recorded.kind === 'capsule') bytes(response, recorded.bytes);
  else plain(response, STATUS[recorded.kind], recorded.said);
}

/** Kernels and programs of labs. */
async function build(
  request: IncomingMessage,
  response: ServerResponse,
  builder: Builder | undefined,
): Promise<void> {
  if (!isOwnPost(request, response, builder !== undefined)) return;
  const text = await bodyOf(request, REQUEST_MAX);
  if (!text) return plain(response, 400, `the files are larger than ${REQUEST_MAX >> 20} MiB`);
  const built = await builder!.build(text.toString('utf8'), () => !response.destroyed);
  if (response.destroyed) return;
  if (built.kind === 'built') bytes(response, built.bytes);
  else if (built.kind === 'refused') plain(response, STATUS.refused, JSON.stringify(built.said));
  else plain(response, built.kind === 'bad' ? 400 : STATUS[built.kind], built.said);
}

/** Undefined: it is too large. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The program that a request brings; a text says what is wrong with it. */
async function requestOf(request: IncomingMessage): Promise<ProgramRequest | string> {
  const source = await bodyOf(request, SOURCE_MAX);
  if (!source) return `the program is larger than ${SOURCE_MAX >> 10} KiB`;
  const query = new URL(request.url ?? '/', 'http://page').searchParams;
  const dialect = query.get('dialect') ?? 'openbsd';
  const harts = Number(query.get('harts') ?? 1);
  if (!DIALECTS.includes(dialect as Dialect)) return `no dialect ${dialect.slice(0, 40)}`;
  if (!Number.isInteger(harts) || harts < 1 || harts > HARTS_MAX) return `harts: 1 to ${HARTS_MAX}`;
  const args = query.get('args') ?? '';
  if (args.length > ARGS_MAX || !/^[\x20-\x7e]*$/.test(args))
    return `args: at most ${ARGS_MAX} letters of ASCII, with blanks between the arguments`;
  const words = args.split(' ').filter(Boolean);
  return { source: source.toString('utf8'), dialect: dialect as Dialect, harts, args: words };
}
