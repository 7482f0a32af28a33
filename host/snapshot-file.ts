// Snapshot files on this host: reading with one line for whatever is wrong, and writing.
import { KcovboxError, type Snapshot } from '../emulator/index.ts';
import { FormatError } from '../run/format-error.ts';
import { readSnapshot, type SnapshotFile } from '../run/snapshot/read.ts';
import { type SnapshotLabel, writeSnapshot } from '../run/snapshot/write.ts';
import { HOST, packageVersion } from './capsule.ts';
import { readInput } from './input.ts';

const FILE_MAX = 2 ** 32 - 1;

/** The snapshot at `path`. Errors: KcovboxError, one line that begins with the file's name. */
export function openSnapshot(path: string): SnapshotFile {
  try {
    return readSnapshot(readInput(path, 'snapshot', FILE_MAX), HOST);
  } catch (error) {
    if (error instanceof FormatError) throw new KcovboxError('input', `snapshot ${path} ${error.message}`);
    throw error;
  }
}

export const formatSnapshot = (snapshot: Snapshot, label: Omit<SnapshotLabel, 'kcovbox'>): Uint8Array =>
  writeSnapshot(snapshot, { ...label, kcovbox: packageVersion() }, HOST.sha256);
