// The service worker: keeps the files of the page that were used, so that it works without a
// connection after one visit. Files whose names hold a hash never change and come from the cache;
// the others come from the network while there is one.

/** The part of the scope of a service worker that is used here. */
interface Scope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(kind: 'install' | 'activate', listener: (event: Waiting) => void): void;
  addEventListener(kind: 'fetch', listener: (event: Fetching) => void): void;
  addEventListener(kind: 'message', listener: (event: Waiting & { readonly data: unknown }) => void): void;
}
interface Waiting {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const scope = globalThis as unknown as Scope;
const CACHE = 'kcovbox page 1';
/** As setup/web.mjs names scripts, and web/assets/main.ts kernels and sources. */
const HASHED = /-\w{8,}(\/.*)?\.(js|css|packed)$/;

async function fromNetwork(request: Request): Promise<Response> {
  const answer = await fetch(request);
  if (answer.ok)
    try {
      await (await caches.open(CACHE)).put(request, answer.clone());
    } catch {} // no room: the page works, but not without a connection
  return answer;
}

async function answerTo(request: Request): Promise<Response> {
  // The place of a run is behind the #, which is not part of a request.
  const kept = await caches.match(request, { ignoreSearch: true });
  if (kept && HASHED.test(new URL(request.url).pathname)) return kept;
  try {
    return await fromNetwork(request);
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** Keeps files that the page loaded before this worker was there. */
async function keep(urls: readonly string[]): Promise<void> {
  const cache = await caches.open(CACHE);
  const wanted = new Set(urls.filter(url => url.startsWith(scope.registration.scope)));
  await dropOld(cache, wanted); // first, because it makes room
  for (const url of wanted) if (!(await cache.match(url))) await cache.add(url);
}

/** A new build has new names: scripts and styles that the page did not load are of an old one. */
async function dropOld(cache: Cache, loaded: ReadonlySet<string>): Promise<void> {
  for (const { url } of await cache.keys())
    if (/\/assets\/[^/]*$/.test(new URL(url).pathname) && !loaded.has(url)) await cache.delete(url);
}

scope.addEventListener('install', event => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', event => event.waitUntil(scope.clients.claim()));
scope.addEventListener('fetch', event => {
  const { request } = event;
  if (request.method === 'GET' && request.url.startsWith(scope.registration.scope))
    event.respondWith(answerTo(request));
});
scope.addEventListener('message', event => {
  const { data } = event;
  if (Array.isArray(data) && data.every(url => typeof url === 'string')) event.waitUntil(keep(data));
});

export {};
