// The first script of the page as a folder. A browser that has kept lines of the last visit needs
// only the page to draw them, so the page has the line to itself. Else the scripts and all files of
// the first program are requested at once, before any of them is there, and the line is never idle.
import type { Assets } from '../protocol.ts';
import { fetchFile } from './fetch.ts';
import { NAMES } from './kept-names.ts';
import { startFolder } from './scripts.ts';

const early = new Map<string, Promise<Uint8Array>>();
const request = (path: string): Promise<Uint8Array> => {
  const file = fetchFile(path);
  file.catch(() => {}); // the page says it
  early.set(path, file);
  return file;
};

/** The files of the program that the address names. */
async function requestProgram(): Promise<void> {
  const { programs, first, sources } = JSON.parse(
    new TextDecoder().decode(await request('assets.packed')),
  ) as Assets;
  const words = new URLSearchParams(location.hash.slice(1));
  if (words.has('run') || words.has('wait')) return;
  const id = words.get('program') ?? first.program;
  const [capsule, load, lines, image] = programs.find(program => program.id === id)?.needs ?? [];
  if (!capsule || !load || !lines || !image) return;
  request(capsule);
  const file = words.has('program') ? words.get('file') : first.file;
  // A folder may be called as what every object has, such as `constructor`: it has no list.
  const [, inside = '', name = ''] = /^(.*)\/(.*)/.exec(file ?? '') ?? [];
  if (sources.names[inside]?.includes?.(name)) request(`${sources.folder}/${file}.packed`);
  request(lines);
  // While the program comes, the worker reads the lines.
  await request(load);
  request(image);
}

/** Has the browser lines of an earlier visit? The page sees whether they are of this build. */
function hasLines(): boolean {
  try {
    return Object.values(NAMES).some(name => localStorage.getItem(name) !== null);
  } catch {
    return false; // not allowed here
  }
}

// Without an origin (a sandboxed frame, or a folder on the disk) a page may not request the files
// beside it; the page as one file needs none.
if (origin === 'null') location.replace(new URL(`kcovbox.html${location.hash}`, document.baseURI));
else if (hasLines()) void startFolder(early, true).then(requestProgram, () => {});
else {
  void startFolder(early);
  void requestProgram().catch(() => {});
}
