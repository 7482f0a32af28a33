// The first script of the page as a folder. A browser that has kept lines of the last visit draws
// them at once, and gives the line to the page, which makes them a view. Else the files of the
// first program are requested before the page is there, in the order in which they are needed: the
// worker starts while the kernel comes. Each request is sent before the file in front of it has
// ended, so the line is never idle.
import type { Assets } from '../protocol.ts';
import { fetchFile } from './fetch.ts';
import { drawKept, keptLines } from './kept.ts';
import { addressOf } from './script.ts';
import { SCRIPTS, startFolder } from './scripts.ts';

const early = new Map<string, Promise<Uint8Array>>();

/** Requests a file when it is its turn. The answer: most of it has come. */
function request(path: string, turn: Promise<void> = Promise.resolve()): Promise<void> {
  return new Promise(nearly => {
    const file = turn.then(() => fetchFile(path, nearly));
    file.catch(() => {}); // the page says it
    early.set(path, file);
  });
}

const words = new URLSearchParams(location.hash.slice(1));

/** The files of the program that the address names. `turn`: of the large ones. */
async function requestProgram(turn: Promise<void>): Promise<void> {
  request('assets.packed');
  const assets = await early.get('assets.packed')!;
  const { programs, first, sources } = JSON.parse(new TextDecoder().decode(assets)) as Assets;
  if (words.has('run') || words.has('wait')) return;
  const id = words.get('program') ?? first.program;
  const [capsule, load, lines, image] = programs.find(program => program.id === id)?.needs ?? [];
  if (!capsule || !load || !lines || !image) return;
  request(capsule);
  const file = words.has('program') ? words.get('file') : first.file;
  // A folder may be called as what every object has, such as `constructor`: it has no list.
  const [, inside = '', name = ''] = /^(.*)\/(.*)/.exec(file ?? '') ?? [];
  if (sources.names[inside]?.includes?.(name)) request(`${sources.folder}/${file}.packed`);
  request(image, turn);
  request(lines, request(load, turn));
}

/** The worker starts before the page is there, which gets it with all that it says. */
function startWorker(): void {
  const folder = globalThis.kcovboxFolder!;
  folder.started = folder.worker.then(script => {
    const worker = new Worker(addressOf(script));
    worker.onerror = event => {
      folder.failure = event.message || 'the worker ended';
    };
    return worker;
  });
  folder.started.catch(() => {}); // the page says it
}

// Without an origin (a sandboxed frame, or a folder on the disk) a page may not request the files
// beside it; the page as one file needs none.
if (origin === 'null') location.replace(new URL(`kcovbox.html${location.hash}`, document.baseURI));
else {
  const asked = Object.fromEntries([...words].reverse()); // the first of each, as the page reads it
  const kept = keptLines(SCRIPTS.build, asked);
  if (kept) {
    const drawn = () => drawKept(kept, words);
    void startFolder({ early, isPageFirst: true, drawn }).then(
      () => requestProgram(Promise.resolve()),
      () => {},
    );
  } else {
    const turn = new Promise<void>(nearly => void startFolder({ early, nearly }));
    void requestProgram(turn).catch(() => {});
  }
  startWorker();
}
