// Starts the page from the bytes of its script: a host need not compress, because the page unpacks
// what it loads.

import { dropDrawn } from './kept.ts';

/** The address of a script. It stays for the life of the page. */
export const addressOf = (script: Uint8Array | ArrayBuffer): string =>
  URL.createObjectURL(new Blob([script as Uint8Array<ArrayBuffer>], { type: 'text/javascript' }));

const app = (): HTMLElement => document.getElementById('app')!;

export function start(script: Uint8Array | ArrayBuffer): void {
  addEventListener('error', ({ message }) => {
    if (!app().hasChildNodes()) fail(`this page cannot start: ${message}`);
  });
  const element = document.createElement('script');
  element.type = 'module';
  element.src = addressOf(script);
  document.head.append(element);
}

/** Instead of the page. */
export function fail(why: string): void {
  dropDrawn();
  app().textContent = why;
}
