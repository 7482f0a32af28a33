// The files beside the page; where the page is one file, they are in it (web/file/).
import type { Inlined, Library } from '../protocol.ts';
import { fetchFile } from '../start/fetch.ts';
import { addressOf } from '../start/script.ts';

/** The first script of the folder hands it over (web/start/folder.ts). */
interface Folder {
  readonly worker: Promise<Uint8Array>;
  readonly libraries: Readonly<Record<Library, string>>;
  /** Names this build of the page and its data. */
  readonly build: string;
  /** Files that were requested before the page was there. */
  readonly early: Map<string, Promise<Uint8Array>>;
  /** The first worker, which waits for requests, and why it has ended. */
  started?: Promise<Worker>;
  failure?: string;
}

declare global {
  var kcovboxFiles: Inlined | undefined;
  var kcovboxFolder: Folder | undefined;
}

export const base = document.baseURI;
export const inlined = globalThis.kcovboxFiles;
const folder = globalThis.kcovboxFolder;
export const build = folder?.build;

/** A file, unpacked. Errors: one line with the path. */
export async function load(path: string): Promise<Uint8Array> {
  const own = inlined?.get(path) ?? folder?.early.get(path);
  folder?.early.delete(path); // its bytes are sent on, and can be taken once
  return own ?? fetchFile(path);
}

let workerAddress: Promise<string> | undefined;
/** The address of the worker's script. */
export const workerScript = (): Promise<string> =>
  (workerAddress ??= (inlined ? Promise.resolve(inlined.get('worker.js')!) : folder!.worker).then(addressOf));

/** A worker of its script. Errors: one line. */
export async function newWorker(): Promise<Worker> {
  const started = folder?.started;
  if (!folder || !started) return new Worker(await workerScript());
  delete folder.started;
  const worker = await started;
  if (folder.failure !== undefined) throw new Error(folder.failure);
  return worker;
}

const libraries = new Map<Library, Promise<unknown>>();
/** A library of web/libraries/, as a module. Errors: one line with its path. */
export function library<T>(name: Library): Promise<T> {
  let made = libraries.get(name);
  if (!made) {
    made = imported(name);
    libraries.set(name, made);
    made.catch(() => libraries.delete(name)); // the connection may come back
  }
  return made as Promise<T>;
}

async function imported(name: Library): Promise<unknown> {
  const script = inlined?.get(`${name}.js`) ?? (await fetchFile(folder!.libraries[name]));
  return import(addressOf(script));
}
