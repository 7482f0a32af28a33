// A full disk below a build. The tools tell of it in many words, or of a bus error: the linker maps
// its output, and a page of it that gets no block is one. They remove what they wrote, so that
// afterwards there is room again; the words are what remains.
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { KcovboxError } from '../emulator/base/errors.ts';
import { ToolchainError } from './errors.ts';
import { systemReason } from './system-errors.ts';

const CODES: Readonly<Record<string, RegExp>> = {
  // Not the lines that quote the program: they are indented, or begin with FILE:LINE:COLUMN.
  ENOSPC: /^(?!\s|.*:\d+:\d+: ).*(?:No space left on device|Bus error)/m,
  EDQUOT: /^(?!\s|.*:\d+:\d+: ).*Disk quota exceeded/m,
};

/** The system's code for a full disk, if that is what an error of a build tells. */
function codeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code in CODES) return code;
  if (!(error instanceof KcovboxError)) return undefined;
  return Object.keys(CODES).find(name => CODES[name]!.test(error.detail));
}

function bytesFree(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // there is no such folder to be full
  }
}

/** Replaces the error of a build in `folder` of the cache by one line, if the disk is full. */
export function nameFullDisk(error: unknown, folder: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  // The compiler keeps its objects among the temporary files.
  const isCache = bytesFree(folder) <= bytesFree(tmpdir());
  const [full, variable] = isCache ? [folder, 'KCOVBOX_CACHE'] : [tmpdir(), 'TMPDIR'];
  return new ToolchainError(
    `cannot write in ${full}: ${systemReason(code)}; make room, or set ${variable} to a folder on another disk`,
  );
}
