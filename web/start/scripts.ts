// Starts a page of the folder: its scripts are packed files beside it, named in the page.
import type { Scripts } from '../protocol.ts';
import { fetchFile } from './fetch.ts';
import { fail, start } from './script.ts';

export const SCRIPTS = JSON.parse(document.getElementById('scripts')!.textContent) as Scripts;

interface Start {
  /** Files that were requested before the page is there. */
  readonly early?: Map<string, Promise<Uint8Array>>;
  /** The worker is requested behind the page. */
  readonly isPageFirst?: boolean;
  /** Most of the worker has come. */
  readonly nearly?: () => void;
  /** Called when the style is there: draws something that is painted before the page starts. */
  readonly drawn?: () => void;
}

/** Longest wait for a frame: a window that nobody sees has none. */
const FRAME_MS = 50;

/** When the next frame has been painted. */
const painted = (): Promise<void> =>
  new Promise(done => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, FRAME_MS);
  });

/** Ends when the page has come, or cannot come. */
export async function startFolder({
  early = new Map(),
  isPageFirst,
  nearly,
  drawn,
}: Start = {}): Promise<void> {
  const { page, style, worker, libraries, build } = SCRIPTS;
  let hasFailed = false; // the reason stays, where the style comes later
  const rules = fetchFile(style).then(async bytes => {
    const element = document.createElement('style');
    element.textContent = new TextDecoder().decode(bytes);
    document.head.append(element);
    if (!drawn || hasFailed) return;
    drawn();
    await painted();
  });
  const files = Promise.all([fetchFile(page), rules]);
  const script = isPageFirst ? files.then(() => fetchFile(worker)) : fetchFile(worker, nearly);
  script.catch(() => {}); // the page says it
  globalThis.kcovboxFolder = { worker: script, libraries, build, early };
  try {
    const [code] = await files;
    start(code);
  } catch (error) {
    hasFailed = true;
    fail(`${(error as Error).message}. Load the page again.`);
  }
}
