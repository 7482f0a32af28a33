// Which file of the run a client means by a path of its machine.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { DebugError } from '../../debug/error.ts';
import type { Image } from '../../debug/image.ts';
import { readSource } from '../../host/input.ts';
import type { SourceView } from '../debug/source.ts';

/** Files of an image, as its debug information names them. */
export interface SourceFile {
  readonly image: Image;
  readonly names: readonly string[];
}

interface Candidate {
  readonly image: Image;
  readonly name: string;
  /** Names at the end of its path that are those of the client's path. */
  readonly shared: number;
}

/**
 * A relative path is the end of a file's path, as in `break FILE:LINE`. An absolute one is the file
 * whose text the debugger shows from there; else the one with the longest common end, of two names
 * or more. As for gdb, a path that has only the last name in common is another file; but an image
 * may name a file without any folder, and if its text is nowhere, the name has to do. Errors:
 * DebugError when there is none.
 */
export function sourceFileOf(given: string, images: readonly Image[], source: SourceView): SourceFile {
  if (given === '') throw new DebugError('the source has no path');
  const path = given.replaceAll('\\', '/');
  if (!/^(?:\/|[A-Za-z]:\/)/.test(path)) {
    const image = images.find(({ lines }) => lines.filesOf(path).length > 0);
    if (image) return { image, names: image.lines.filesOf(path) };
  }
  const named = candidatesFor(path, images);
  const candidates = named.length > 0 ? named : candidatesFor(realOf(given), images);
  const isShown = ({ name }: Candidate): boolean => isSameFile(source.pathOf(name), given);
  const isLike = ({ name, shared }: Candidate): boolean =>
    shared > 1 || (!name.includes('/') && source.pathOf(name) === undefined);
  const own = candidates.find(isShown) ?? candidates.find(isLike);
  if (own) return { image: own.image, names: [own.name] };
  const [other] = candidates;
  if (!other) throw new DebugError(`the run has no source file ${given}`);
  const place = source.pathOf(other.name);
  throw new DebugError(
    `${given} is not the ${other.name} of the run${place === undefined ? '' : `, which is ${place}`}`,
  );
}

/** A link may have another name. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Files with the last name of the path; those that share most of it first. */
function candidatesFor(path: string, images: readonly Image[]): Candidate[] {
  const parts = path.split('/');
  const all = images.flatMap(image =>
    image.lines.filesNamed(parts.at(-1)!).map(name => ({ image, name, shared: sharedEnd(name, parts) })),
  );
  return all.sort((a, b) => b.shared - a.shared);
}

function sharedEnd(name: string, parts: readonly string[]): number {
  const own = name.split('/');
  let shared = 0;
  while (shared < Math.min(own.length, parts.length) && own.at(-1 - shared) === parts.at(-1 - shared))
    shared++;
  return shared;
}

/** By another name of the file, or a copy of it. */
function isSameFile(known: string | undefined, given: string): boolean {
  if (known === undefined) return false;
  if (known === resolve(given)) return true;
  const [own, other] = [readSource(known), readSource(given)];
  if (!own || !other) return false;
  return own.equals(other) || realpathSync(known) === realpathSync(given);
}
