// Writes bytes to a file descriptor, at once and in order. Streams are not used: loading them takes
// longer than a hello program runs, and their buffered bytes are lost when the process ends.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { makeWritable, shortened, systemReason, temporaryPath, unfinished } from '../../toolchain/index.ts';
import { QuietEnd, report, UserError } from './fail.ts';
import { ENDING_SIGNALS, type EndingSignal, isRepeated, SIGNAL_STATUS } from './signals.ts';

/**
 * Status of a process that SIGPIPE ends; a shell shows it for other commands whose reader has gone.
 */
const EXIT_PIPE = 141;
const STDOUT = 1;
const RETRY_MS = 2;

/** Retries a full pipe that another process has made non-blocking. */
function rest(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
}

/**
 * Writes all of `bytes` to standard output, or to another open file. Ends the command without a
 * message when the reader has gone.
 */
export function writeOut(bytes: Uint8Array, to = STDOUT): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(to, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') rest();
      else throw endOfStdout(error as NodeJS.ErrnoException);
    }
  }
}

/**
 * The end of a command that cannot write its standard output: without a message where the reader
 * has gone (`| head`), like other commands; on a full disk, with one line.
 */
export function endOfStdout({ code, message }: NodeJS.ErrnoException): QuietEnd | UserError {
  if (code === 'EPIPE' || code === 'EIO') return new QuietEnd(EXIT_PIPE);
  return new UserError(`cannot write standard output: ${systemReason(code) ?? message}`);
}

/**
 * True if `path` may be replaced by a new file: it is a file or does not exist. Devices and pipes
 * are written in place.
 */
const isReplaceable = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

const LINKS_MAX = 40; // as Linux has it

/** Names of this process's open files: /dev/stdout leads to one of them. */
const DESCRIPTOR = new RegExp(`^/(?:dev|proc/${process.pid})/fd/(\\d+)$`);

/** The path with the folder behind its links and `..`; as it is if there is no such folder. */
function inRealFolder(path: string): string {
  if (basename(path) !== path.slice(path.lastIndexOf('/') + 1)) return path; // a folder's, as `a/`
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

/**
 * The file that an output is written to: `path`, or the file to which it is a symbolic link, there
 * or not. An open file of this process stays its name. Errors: those of the system, as for a link
 * to itself.
 */
export function behindLinks(path: string): string {
  let target = inRealFolder(path);
  for (let links = 0; !DESCRIPTOR.test(target); links++) {
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    if (links === LINKS_MAX) throw Object.assign(new Error(), { code: 'ELOOP' });
    const next = readlinkSync(target);
    // `..` of a link is that of the folder behind it, so no words of the path cancel out.
    target = inRealFolder(isAbsolute(next) ? next : `${dirname(target)}/${next}`);
  }
  return target;
}

/** Standard output or standard error, if `path` is a name of it such as /dev/stdout. */
function streamOf(path: string): number | undefined {
  const [, number] = DESCRIPTOR.exec(path) ?? [];
  return number === '1' || number === '2' ? Number(number) : undefined;
}

/** True if `path`, behind its links, is written in place, as devices, pipes and open files are. */
const isInPlace = (path: string): boolean => DESCRIPTOR.test(path) || !isReplaceable(path);

/** Removes files and folders that killed writers of `path` left behind. */
export const sweep = (path: string): void => sweepAll(dirname(path), [basename(path)]);

/** The same for several names in a folder. */
function sweepAll(folder: string, names: readonly string[]): void {
  const products = new Set<string | undefined>(names.map(shortened));
  try {
    for (const name of readdirSync(folder))
      if (products.has(unfinished(folder, name)))
        rmSync(join(folder, name), { recursive: true, force: true });
  } catch {} // the open that follows reports a problem with the folder
}

/**
 * A file that takes the place of `path` when it is complete; of the file behind it where `path` is
 * a symbolic link. A file that is there keeps its permissions, unless `mode` says others.
 */
class Replacement {
  readonly #path: string;
  #final: string;
  #target: string;
  #stream: number | undefined;
  #fd: number | undefined;

  constructor(path: string, mode?: number, isSwept = false) {
    this.#path = path;
    this.#final = path;
    this.#target = path;
    this.#try(() => {
      const final = behindLinks(path);
      this.#stream = streamOf(final);
      if (this.#stream !== undefined) return;
      if (!isInPlace(final)) {
        this.#final = final;
        if (!isSwept) sweep(final);
        this.#target = temporaryPath(final);
      }
      this.#fd = openSync(this.#target, 'w', mode ?? 0o666);
      const old = mode === undefined ? statSync(this.#final, { throwIfNoEntry: false }) : undefined;
      if (old?.isFile()) fchmodSync(this.#fd, old.mode & 0o777);
    });
  }

  write(chunk: string | Uint8Array): void {
    if (this.#stream === undefined) this.#try(() => writeFileSync(this.#fd!, chunk));
    else writeOut(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk, this.#stream);
  }

  commit(): void {
    if (this.#stream !== undefined) return;
    this.#try(() => {
      closeSync(this.#fd!);
      this.#fd = undefined;
      if (this.#target !== this.#final) renameSync(this.#target, this.#final);
    });
  }

  abandon(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#target !== this.#final) rmSync(this.#target, { force: true });
  }

  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.abandon();
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') throw new QuietEnd(EXIT_PIPE);
      throw new UserError(`cannot write ${this.#path}: ${reasonFor(this.#path, code, message)}`);
    }
  }
}

/** Writes a file whole or not at all. Errors: one line with the file's name. */
export function writeFile(path: string, contents: string | Uint8Array, mode?: number): void {
  const file = new Replacement(path, mode);
  file.write(contents);
  file.commit();
}

/**
 * Writes files of one folder, each whole or not at all; what killed writers left of them is removed
 * once for all, because the folder may be large. Errors: as `writeFile`.
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string | Uint8Array>): void {
  sweepAll(folder, [...files.keys()]);
  for (const [name, contents] of files) {
    const file = new Replacement(join(folder, name), undefined, true);
    file.write(contents);
    file.commit();
  }
}

/** Writes to standard output where `path` is `-`, else a file. */
export function writeBytesTo(path: string, bytes: Uint8Array): void {
  if (path === '-') writeOut(bytes);
  else writeFile(path, bytes);
}

export const writeTo = (path: string, text: string): void =>
  writeBytesTo(path, new TextEncoder().encode(text));

/** JSON that a terminal shows as it is, whatever words a stranger chose. */
export function asciiJson(value: unknown, indent = 0): string {
  const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(/[^\n -~]/g, escaped);
}

/** Output of `--json`. */
export const printJson = (value: unknown): void => writeTo('-', `${asciiJson(value, 2)}\n`);

/**
 * Writes several outputs: one that fails does not keep the others from being written. Errors: the
 * last failure, and a line for each other one before it, once where two outputs share a file; a
 * reader that has gone only if there is no other.
 */
export async function writeEach(outputs: Iterable<() => unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const output of outputs)
    try {
      await output();
    } catch (error) {
      failures.push(error);
    }
  const failed = failures.filter(failure => !(failure instanceof QuietEnd));
  const errors = [...new Map(failed.map(error => [String(error), error])).values()];
  for (const error of errors.slice(0, -1)) report(error);
  if (failures.length > 0) throw errors.at(-1) ?? failures[0];
}

/** The highest folder of `path` that is not there; undefined if all are. */
function firstMissing(path: string): string | undefined {
  try {
    lstatSync(path);
    return undefined;
  } catch {
    return dirname(path) === path ? path : (firstMissing(dirname(path)) ?? path);
  }
}

/**
 * To be called before a command makes the folder `path`. `undo` removes what the command made: what
 * is in the folder, which was not there or empty, and the folders that were not there. Those that
 * hold something of others, as of a command that runs at the same time, stay.
 */
export function undoOf(path: string): {
  readonly isNew: boolean;
  undo(): void;
  /** The same before the command has put anything into the folder. */
  undoFolders(): void;
} {
  const folder = resolve(path);
  const made = firstMissing(folder);
  const undoFolders = (): void => {
    for (let each = folder; made !== undefined; each = dirname(each)) {
      try {
        rmdirSync(each);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return; // it holds something
      }
      if (each === made) return;
    }
  };
  return {
    isNew: made !== undefined,
    undo() {
      try {
        for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
      } catch {} // the failure before it is the one to report
      undoFolders();
    },
    undoFolders,
  };
}

/**
 * Makes a folder, or takes one that is there and empty, and fills it with `write`; after a failure
 * it is as before. `what` and `remedy`, for messages: the command, and how to name another folder.
 */
export function fillFolder(
  path: string,
  what: string,
  write: () => void,
  remedy = 'give a new folder with -o',
): void {
  if (path === '-') throw new UserError(`${what}: -: a folder cannot be standard output; ${remedy}`);
  const folder = resolve(path); // without folders that `..` leaves again
  const { undo, undoFolders } = undoOf(folder);
  let isEmpty: boolean;
  try {
    makeWritable(folder);
    isEmpty = readdirSync(folder).length === 0;
  } catch (error) {
    undoFolders();
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UserError(`cannot write ${path}: ${reasonFor(path, code, message)}`);
  }
  if (!isEmpty) throw new UserError(`${what}: ${path} is not empty; ${remedy}`);
  try {
    write();
  } catch (error) {
    undo();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof UserError) throw error;
    throw new UserError(`cannot write ${path}: ${systemReason(code) ?? message}`);
  }
}

/** Refuses a folder that `fillFolder` would refuse, before the work for it; all stays as it is. */
export function checkFolder(path: string, what: string): void {
  const done = new Error();
  try {
    fillFolder(path, what, () => {
      throw done;
    });
  } catch (error) {
    if (error !== done) throw error;
  }
}

/** Refuses a target that cannot be written, before the work for it begins. */
export function checkOutput(path: string | undefined): void {
  if (path === undefined || path === '-') return;
  try {
    const final = behindLinks(path);
    if (streamOf(final) !== undefined) return;
    const place = isInPlace(final) ? path : dirname(final);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw Object.assign(new Error(), { code: 'EISDIR' });
    accessSync(place, constants.W_OK);
    if (place !== path) new Replacement(path).abandon(); // folders of the kernel take no files
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UserError(`cannot write ${path}: ${reasonFor(path, code, message)}`);
  }
}

/** Equal for two names of one regular file; devices such as /dev/null may be named twice. */
function identityOf(path: string): string | undefined {
  if (path === '-') return undefined;
  try {
    const status = statSync(path);
    return status.isFile() ? `${status.dev}:${status.ino}` : undefined;
  } catch {
    return placeOf(path);
  }
}

/** Of a file that is not there, or not to be reached: its reader or writer says so. */
function placeOf(path: string): string {
  try {
    return resolve(behindLinks(path));
  } catch {
    return resolve(path);
  }
}

/** True for `-` and the other names of standard output. */
function isStdout(path: string): boolean {
  if (path === '-') return true;
  try {
    return streamOf(behindLinks(path)) === STDOUT;
  } catch {
    return false; // its writer says what is wrong
  }
}

/** Undefined unless standard output is a regular file. */
function identityOfStdout(): string | undefined {
  try {
    const status = fstatSync(STDOUT);
    return status.isFile() ? `${status.dev}:${status.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses outputs that would destroy an input or each other. `outputs`: paths by the names of their
 * options.
 */
export function checkDistinct(
  outputs: readonly (readonly [option: string, path: string | undefined])[],
  inputs: readonly (string | undefined)[],
): void {
  const onStdout = outputs.filter(([, path]) => path !== undefined && isStdout(path));
  if (onStdout.length > 1)
    throw new UserError(
      `${onStdout.map(words => words.join(' ')).join(' and ')}: only one of them can be standard output`,
    );
  const taken = new Map<string | undefined, string>([
    [identityOfStdout(), 'standard output; choose another file'],
  ]);
  for (const path of inputs)
    if (path !== undefined) taken.set(identityOf(path), 'an input; choose another file');
  for (const [option, path] of outputs) {
    const id = path === undefined || isStdout(path) ? undefined : identityOf(path);
    if (id === undefined) continue;
    const role = taken.get(id);
    if (role !== undefined) throw new UserError(`${option} ${path}: the file is ${role}`);
    taken.set(id, `that of ${option}; choose two`);
  }
}

/** Chunks between two checks for signals. */
const CHUNKS = 16;

/**
 * The same for output that takes long to produce: after an interruption the old file is still
 * there, and nothing else.
 */
export async function writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  if (path === '-') {
    for (const chunk of chunks) writeOut(chunk);
    return;
  }
  const file = new Replacement(path);
  const onSignal = (signal: EndingSignal): void => {
    if (isRepeated()) return;
    file.abandon();
    process.exit(SIGNAL_STATUS[signal]);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
  try {
    let count = 0;
    for (const chunk of chunks) {
      file.write(chunk);
      if (++count % CHUNKS === 0) await new Promise(done => setImmediate(done));
    }
    file.commit();
  } catch (error) {
    file.abandon();
    throw error;
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
  }
}

function reasonFor(path: string, code: string | undefined, message: string): string {
  if (code === 'ENOENT')
    return hasFolder(path) ? `no file can be made in ${dirname(path)}` : 'no such folder';
  return systemReason(code) ?? message;
}

function hasFolder(path: string): boolean {
  try {
    return existsSync(dirname(behindLinks(path)));
  } catch {
    return false;
  }
}
