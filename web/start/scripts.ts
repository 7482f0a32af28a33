// Starts a page of the folder: its scripts are packed files beside it, named in the page.
import type { Scripts } from '../protocol.ts';
import { fetchFile } from './fetch.ts';
import { fail, start } from './script.ts';

/**
 * `early`: files that were requested before the page is there. `isPageFirst`: the worker is
 * requested behind the page. Ends when the page has come, or cannot come.
 */
export async function startFolder(
  early: Map<string, Promise<Uint8Array>>,
  isPageFirst = false,
): Promise<void> {
  const { page, style, worker, libraries, build } = JSON.parse(
    document.getElementById('scripts')!.textContent,
  ) as Scripts;
  const files = Promise.all([fetchFile(page), fetchFile(style)]);
  const script = isPageFirst ? files.then(() => fetchFile(worker)) : fetchFile(worker);
  script.catch(() => {}); // the page says it
  globalThis.kcovboxFolder = { worker: script, libraries, build, early };
  try {
    const [code, rules] = await files;
    const element = document.createElement('style');
    element.textContent = new TextDecoder().decode(rules);
    document.head.append(element);
    start(code);
  } catch (error) {
    fail(`${(error as Error).message}. Load the page again.`);
  }
}
