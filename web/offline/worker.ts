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

/** Files and folders of this build whose names have a hash (setup/web-scripts.mjs). */
declare const OWN_FILES: readonly string[];

const scope = globalThis as unknown as Scope;
const CACHE = 'kcovbox page 1';
/** As setup/web.mjs names scripts, and web/assets/main.ts kernels and sources. */
const HASHED = /-\w{8,}(\/.*)?\.(js|css|packed)$/;

async function fromNetwork(request: Request): Promise<Response> {
  const answer = await fetch(request);
  if (answer.ok)
    try {
      const cache = await caches.open(CACHE);
      await cache.delete(request, { ignoreSearch: true }); // of another build
      await cache.put(request, answer.clone());
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
  for (const url of wanted) if (!(await cache.match(url))) await cache.add(url);
}

/** Drops files of other builds: scripts, kernels, programs and sources that this one has not. */
async function dropOld(): Promise<void> {
  const cache = await caches.open(CACHE);
  for (const { url } of await cache.keys()) {
    const { pathname } = new URL(url);
    const path = pathname.slice(new URL(scope.registration.scope).pathname.length);
    const isOurs = OWN_FILES.some(name => path === name || path.startsWith(`${name}/`));
    if (HASHED.test(pathname) && !isOurs) await cache.delete(url);
  }
}

scope.addEventListener('install', event => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', event => event.waitUntil(scope.clients.claim().then(dropOld)));
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
