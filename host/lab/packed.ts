// A submission as one file: a ZIP archive of the files that count, the same bytes each time.
import { type Files, refused, type Submission, submissionOf } from '../../grade/judge/lab.ts';
import { FormatError, pack } from '../../run/capsule/index.ts';
import { readZip, unpack, writeZip } from '../../run/capsule/zip.ts';
import { sha256OfParts } from '../../toolchain/index.ts';
import { inflate } from '../capsule.ts';
import { readInput } from '../input.ts';
import type { Lab } from './lab.ts';

const ARCHIVE_MAX = 4 << 20;
const FILE_MAX = 256 << 10;

export const packSubmission = ({ files }: Submission): Uint8Array =>
  writeZip([...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, bytes]) => pack(name, bytes)));

/** The files of an archive that `packSubmission` made. */
export function unpackSubmission(lab: Lab, path: string, name: string): Submission {
  const given: Files = new Map();
  try {
    for (const entry of readZip(readInput(path, 'submission', ARCHIVE_MAX), ARCHIVE_MAX)) {
      if (entry.size > FILE_MAX) throw new FormatError(`has a file of more than 256 KiB: ${entry.name}`);
      given.set(entry.name, unpack(entry, inflate));
    }
  } catch (error) {
    if (error instanceof FormatError) throw refused(`submission ${path} ${error.message}`);
    throw error;
  }
  return submissionOf(lab, given, name, sha256OfParts);
}
