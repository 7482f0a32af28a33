// Capsules on this host: what reading needs of Node, one line for whatever is wrong with one, and
// writing.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { KcovboxError } from '../emulator/index.ts';
import {
  Capsule,
  type CapsuleContents,
  type CapsuleHost,
  checkDescription,
  FormatError,
  STATE_HASH,
  writeCapsule,
} from '../run/capsule/index.ts';
import { packageRoot, sha256 } from '../toolchain/index.ts';
import { storeImage } from './image-store.ts';
import { readInput } from './input.ts';
import { packKept } from './packed.ts';

/** Of the file; its contents have a limit of their own, TOTAL_MAX of run/capsule/parts.ts. */
const FILE_MAX = 2 ** 30;

/** Loaded by those who read a capsule. */
const zlib = () => createRequire(import.meta.url)('node:zlib') as typeof import('node:zlib');

/** zlib stops at the first byte too many, and says how much of the stream it has read. */
export function inflate(packed: Uint8Array, size: number): Uint8Array | undefined {
  try {
    const { buffer, engine } = zlib().inflateRawSync(packed, {
      maxOutputLength: Math.max(size, 1),
      info: true,
    }) as unknown as { buffer: Uint8Array; engine: { bytesWritten: number } };
    return buffer.length === size && engine.bytesWritten === packed.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/** Of kcovbox. */
export function packageVersion(): string {
  const manifest = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Reading and writing files on this host. */
export const HOST: CapsuleHost = { sha256, inflate };

/** The name of one that has no path. */
export const UNNAMED = 'the argument capsule';

/**
 * Does something with a capsule. Errors: KcovboxError, where what is wrong with it is one line that
 * begins with its name.
 */
export function inCapsule<T>(name: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new KcovboxError('input', `${name === UNNAMED ? name : `capsule ${name}`} ${error.message}`);
  }
}

/**
 * The capsule in `file`; `name`: of it, for messages. Errors: one line that says why it is none.
 */
export const parseCapsule = (file: Uint8Array, name: string): Capsule =>
  inCapsule(name, () => Capsule.open(file, HOST));

/** The capsule at `path`. Errors: as above, and those of the file. */
export const openCapsule = (path: string): Capsule =>
  parseCapsule(readInput(path, 'capsule', FILE_MAX), path);

/** Before the run. Errors: one line, when no capsule can hold a run of this description. */
export const checkRecordable = (run: CapsuleContents['run'], name: string): void =>
  inCapsule(name, () => checkDescription(run));

/**
 * The bytes of a capsule. `isThin`: without its images, whose hashes stay. `name`: of it, for
 * messages.
 */
export function formatCapsule(
  contents: Omit<CapsuleContents, 'kcovbox' | 'stateHash'>,
  isThin: boolean,
  name: string,
): Uint8Array {
  const version = packageVersion();
  const images = new Map(
    [...contents.images].map(([part, image]) => {
      const isLeftOut = isThin && image instanceof Uint8Array;
      return [part, isLeftOut ? { bytes: image.length, sha256: sha256(image) } : image];
    }),
  );
  const all = { ...contents, kcovbox: version, stateHash: STATE_HASH, images };
  return inCapsule(name, () => writeCapsule(all, sha256, packKept));
}

/**
 * Keeps the images of a thin capsule where a replay on this machine finds them. Errors: those of
 * the file system.
 */
export function keepImages({ images }: Pick<CapsuleContents, 'images'>): void {
  for (const image of images.values()) if (image instanceof Uint8Array) storeImage(image);
}
