// Bytes to a file descriptor, at once and in order. Not through a stream: those take longer to load than a hello program to run, and what they
// hold back is lost when the process ends.
import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { QuietEnd, UserError } from './fail.ts';

/** Status of a process that SIGPIPE ends, which is what a shell shows for other commands whose reader went away. */
const EXIT_PIPE = 141;
const STDOUT = 1;
const RETRY_MS = 2;

/** A pipe that is full and does not block (another process's doing) is tried again. */
function rest(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
}

/** Writes all of `bytes` to standard output. Ends the command quietly when nobody reads it any more. */
export function writeOut(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(STDOUT, bytes, at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') rest();
      else if (code === 'EPIPE' || code === 'EIO') throw new QuietEnd(EXIT_PIPE);
      else throw new UserError(`cannot write standard output: ${message}`);
    }
  }
}

/** Is `path` something that may be replaced by a new file: a file, or nothing yet? Devices and pipes are written in place. */
const isReplaceable = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

/**
 * Writes a file whole or not at all: an interrupted command leaves what was there before. Errors: one line with the file's name.
 */
export function writeFile(path: string, contents: string | Uint8Array | Iterable<Uint8Array>): void {
  const chunks = typeof contents === 'string' || contents instanceof Uint8Array ? [contents] : contents;
  const target = isReplaceable(path) ? `${path}.${process.pid}.tmp` : path;
  const forget = (): void => {
    if (target !== path) rmSync(target, { force: true });
  };
  const onExit = (): void => forget();
  let fd: number | undefined;
  process.once('exit', onExit);
  try {
    fd = openSync(target, 'w');
    for (const chunk of chunks) writeFileSync(fd, chunk);
    closeSync(fd);
    fd = undefined;
    if (target !== path) renameSync(target, path);
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    forget();
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') throw new QuietEnd(EXIT_PIPE);
    if (syscall === undefined) throw error; // not the file's fault
    throw new UserError(`cannot write ${path}: ${reason(code, message)}`);
  } finally {
    process.off('exit', onExit);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such folder',
  EACCES: 'permission denied',
  ENOSPC: 'no space left on the device',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
};

const reason = (code: string | undefined, message: string): string => REASONS[code ?? ''] ?? message;
