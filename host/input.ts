// Input files. They may be hostile: only regular files are read, and never more bytes than the role
// allows, even if the file grows meanwhile.
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type DiskImage, isElf, KcovboxError } from '../emulator/index.ts';
import { systemReason } from '../toolchain/index.ts';

/** Largest file of any role: a buffer of Node holds no more. */
const FILE_MAX = 2 ** 31;
/** Of one read: the system takes no length of 2 GiB. */
const PIECE_MAX = 2 ** 30;
const MIB = 2 ** 20;
const HEAD_BYTES = 4096;
const PHDR_BYTES = 56;
const PT_LOAD = 1;

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** Runs `body`; an error of the system becomes one line. `what` names the role: "kernel". */
function told<T>(path: string, what: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof KcovboxError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const absent = path === '-' ? 'no such file; standard input is not read: name a file' : 'no such file';
    const why = code === 'ENOENT' ? absent : (systemReason(code) ?? (error as Error).message);
    throw refused(`${what} ${path}: ${why}`);
  }
}

interface Held {
  /** The caller closes it. */
  readonly fd: number;
  readonly status: Stats;
}

/** Opens a regular file. Errors: one line. */
const hold = (path: string, what: string): Held =>
  told(path, what, () => {
    const status = statSync(path); // before it is opened: opening a pipe waits for its other end
    if (!status.isFile()) throw refused(`${what} ${path} is ${kindOf(status)}, not a file`);
    return { fd: openSync(path, 'r'), status };
  });

/** Runs `body` on a held file, and closes it. Errors: one line. */
const use = <T>(
  path: string,
  what: string,
  { fd, status }: Held,
  body: (fd: number, status: Stats) => T,
): T =>
  told(path, what, () => {
    try {
      return body(fd, status);
    } finally {
      closeSync(fd);
    }
  });

/** Opens a regular file and runs `body` on it. Errors: one line. */
const open = <T>(path: string, what: string, body: (fd: number, status: Stats) => T): T =>
  use(path, what, hold(path, what), body);

function kindOf(status: Stats): string {
  if (status.isDirectory()) return 'a folder';
  if (status.isFIFO()) return 'a pipe';
  return status.isSocket() ? 'a socket' : 'a device';
}

/** Errors: as `readInput`, where there is no regular file that can be opened. */
export const checkInput = (path: string, what: string): void => open(path, what, () => {});

/** Whole contents of an input file of at most `max` bytes. */
export const readInput = (path: string, what: string, max = FILE_MAX): Uint8Array =>
  open(path, what, (fd, { size }) => readWhole(fd, size, `${what} ${path}`, max));

/** More than any file of source text has; a larger one is not shown. */
const SOURCE_MAX = 64 * MIB;

/** A regular file of at most `max` bytes; undefined where there is none. */
export function readIfThere(path: string, max = FILE_MAX): Buffer | undefined {
  try {
    return open(path, 'file', (fd, { size }) => readWhole(fd, size, path, max));
  } catch (error) {
    if (error instanceof KcovboxError) return undefined;
    throw error;
  }
}

/** A file of source text; undefined where there is none, or something that can be none. */
export const readSource = (path: string): Buffer | undefined => readIfThere(path, SOURCE_MAX);

/**
 * The text in the bytes of a file. Errors: for bytes that are not UTF-8, which a decoder would
 * replace: the file would then mean something else than it says.
 */
export function decodeText(bytes: Uint8Array, path: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused(`${what} ${path} has bytes that are not UTF-8; save it as UTF-8`);
  }
}

/** Text of an input file. Errors: as `readInput` and `decodeText`. */
export const readText = (path: string, what: string, max = FILE_MAX): string =>
  decodeText(readInput(path, what, max), path, what);

/**
 * Opens a file now, and answers with a function that reads it once: also when its name has gone by
 * then. Errors: as `readInput`.
 */
export function holdInput(path: string, what: string): () => Uint8Array {
  const held = hold(path, what);
  return () => use(path, what, held, (fd, { size }) => readWhole(fd, size, `${what} ${path}`, FILE_MAX));
}

/** `name`: of the role and the file. */
function readWhole(fd: number, size: number, name: string, max: number): Buffer {
  const tooLarge = () => refused(`${name} is larger than ${Math.floor(max / MIB)} MiB`);
  if (size > max) throw tooLarge();
  // The files of /proc report a size of 0.
  let bytes = Buffer.allocUnsafe(size + 1);
  for (let at = 0; ; ) {
    const got = readSync(fd, bytes, at, Math.min(bytes.length - at, PIECE_MAX), null);
    at += got;
    if (got === 0) return bytes.subarray(0, at);
    if (at > max) throw tooLarge();
    if (at === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * at + MIB, max + 1));
  }
}

/**
 * The part of an ELF file that is loaded: its beginning up to the last segment, without debugging
 * data. Undefined when that cannot be told from the first page. Errors: as `readInput`.
 */
export function readLoaded(path: string, what: string): Uint8Array | undefined {
  return open(path, what, (fd, { size }) => {
    const head = Buffer.alloc(HEAD_BYTES);
    if (readSync(fd, head, 0, HEAD_BYTES, 0) !== HEAD_BYTES || !isElf(head)) return undefined;
    const [table, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(56)];
    if (table + count * PHDR_BYTES > HEAD_BYTES) return undefined;
    let end = HEAD_BYTES;
    for (let at = table; at < table + count * PHDR_BYTES; at += PHDR_BYTES)
      if (head.readUInt32LE(at) === PT_LOAD)
        end = Math.max(end, Number(head.readBigUInt64LE(at + 8) + head.readBigUInt64LE(at + 32)));
    if (end > size) return undefined;
    const bytes = Buffer.allocUnsafe(end);
    return readSync(fd, bytes, 0, end, 0) === end ? bytes : undefined;
  });
}

/**
 * A disk image that stays in its file: what the guest never reads costs nothing. Errors later: when
 * the file changes.
 */
export function openDisk(path: string): DiskImage {
  const {
    fd,
    status: { size, mtimeMs },
  } = hold(path, 'drive');
  const changed = (): never => {
    throw refused(`drive ${path} has changed while the guest ran; give it a copy`);
  };
  return {
    bytes: size,
    read(at, into) {
      const now = fstatSync(fd);
      if (now.size !== size || now.mtimeMs !== mtimeMs) changed();
      for (let done = 0; done < into.length; ) {
        const got = readSync(fd, into, done, into.length - done, at + done);
        if (got === 0) changed();
        done += got;
      }
    },
  };
}
