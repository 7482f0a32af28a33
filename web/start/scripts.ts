// Starts a page of the folder: its scripts are packed files beside it, named in the page.
import type { Scripts } from '../protocol.ts';
import { fetchFile } from './fetch.ts';
import { fail, start } from './script.ts';

/** `early`: files that were requested before the page is there. */
export function startFolder(early: Map<string, Promise<Uint8Array>>): void {
  const { page, style, worker, libraries, build } = JSON.parse(
    document.getElementById('scripts')!.textContent,
  ) as Scripts;
  globalThis.kcovboxFolder = { worker: fetchFile(worker), libraries, build, early };
  globalThis.kcovboxFolder.worker.catch(() => {}); // the page says it
  Promise.all([fetchFile(page), fetchFile(style)]).then(
    ([script, rules]) => {
      const element = document.createElement('style');
      element.textContent = new TextDecoder().decode(rules);
      document.head.append(element);
      start(script);
    },
    (error: Error) => fail(`${error.message}. Load the page again.`),
  );
}
