// Bytes that are not UTF-8, in the command line, in the environment and in the name of the current
// folder. Node.js puts U+FFFD in their place, so another file would be read or written, and the
// guest would get another word. Linux keeps the bytes in /proc, which tells a U+FFFD that was meant
// from one that Node.js put there.
import { readFileSync, statSync } from 'node:fs';
import { UserError } from './fail.ts';

const REPLACEMENT = '\ufffd';

/** Of the environment: they are folders, or the compiler (docs/environment.md). */
const PATHS = ['KCOVBOX_CACHE', 'KCOVBOX_CLANG', 'XDG_CACHE_HOME', 'HOME', 'TMPDIR'];

/** The strings of /proc/self/cmdline or environ; undefined on systems without these files. */
function rawStrings(name: 'cmdline' | 'environ'): Uint8Array[] | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(`/proc/self/${name}`);
  } catch {
    return undefined;
  }
  const strings: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    strings.push(bytes.subarray(at, end < 0 ? bytes.length : end));
    at = end < 0 ? bytes.length : end + 1;
  }
  return strings;
}

function isUtf8(bytes: Uint8Array | undefined): boolean {
  try {
    return bytes !== undefined && new TextDecoder('utf-8', { fatal: true }).decode(bytes).length >= 0;
  } catch {
    return false;
  }
}

/** Refuses words of the command line, and paths of the environment, that Node.js has changed. */
export function refuseOtherBytes(argv: readonly string[]): void {
  if (argv.some(word => word.includes(REPLACEMENT))) {
    const raw = rawStrings('cmdline')?.slice(-argv.length);
    const bad = argv.findIndex((word, i) => word.includes(REPLACEMENT) && !isUtf8(raw?.[i]));
    if (bad >= 0)
      throw new UserError(
        `"${argv[bad]}" on the command line has bytes that are not UTF-8; rename the file, or pass them in a file`,
      );
  }
  for (const name of PATHS) {
    if (!process.env[name]?.includes(REPLACEMENT)) continue;
    const prefix = Buffer.from(`${name}=`);
    const raw = rawStrings('environ')?.find(bytes => prefix.equals(bytes.subarray(0, prefix.length)));
    if (!isUtf8(raw)) throw new UserError(`${name} has bytes that are not UTF-8; set it to another path`);
  }
}

/** Refuses a current folder whose name Node.js has changed: paths below it would lead elsewhere. */
export function refuseOtherFolder(): void {
  let folder: string;
  try {
    folder = process.cwd();
  } catch {
    return; // removed: the first path that needs it says so
  }
  if (!folder.includes(REPLACEMENT)) return;
  const found = statSync(folder, { throwIfNoEntry: false });
  const here = statSync('.');
  if (found?.dev !== here.dev || found.ino !== here.ino)
    throw new UserError(`the current folder ${folder} has bytes that are not UTF-8 in its path; use another`);
}
