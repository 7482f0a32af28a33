// Use without a connection: hands the files that the page has loaded to the service worker
// (web/offline/worker.ts). Where there is none, as in a sandboxed frame, nothing happens.
import { inlined } from './load.ts';

/** Call when a program is open. */
export async function keepForOffline(): Promise<void> {
  if (inlined) return; // all is there
  try {
    await navigator.serviceWorker.register('offline.js', { scope: './' });
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
    active?.postMessage([document.baseURI.replace(/#.*/, ''), ...loaded]);
  } catch {} // not allowed here
}
