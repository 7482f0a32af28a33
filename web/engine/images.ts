// The images of a run: those in its capsule, or those beside the page that have their hashes.
import { Elf } from '../../coverage/index.ts';
import { KcovboxError } from '../../emulator/index.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import type { Assets, KernelFiles, Part } from '../protocol.ts';
import { beside, sha256 } from './host.ts';

/** Of an ELF file. */
const HEADER = 64;

export interface KernelImage {
  readonly elf: Elf;
  readonly bytes: Uint8Array;
  /** False: types and variables are in `whole` only. */
  readonly isWhole: boolean;
  /** Of an image that is not whole: see threads.ts. */
  readonly tidPlace?: number | undefined;
  whole(): Promise<Uint8Array>;
}

const damaged = (what: string): KcovboxError =>
  new KcovboxError('input', `the ${what} beside this page is damaged: build the page again`);

function missing(what: string, hash: string): KcovboxError {
  return new KcovboxError(
    'input',
    `the capsule has no ${what}, and this page has none with sha256 ${hash.slice(0, 16)}...: record it without --thin`,
  );
}

export async function kernelOf(capsule: Capsule, { kernels }: Assets): Promise<KernelImage> {
  const { isPresent, sha256: hash } = capsule.part('kernel.bin')!;
  if (isPresent) {
    const bytes = capsule.read('kernel.bin');
    return { elf: new Elf(bytes, 'kernel'), bytes, isWhole: true, whole: async () => bytes };
  }
  const files = kernels.find(kernel => kernel.sha256 === hash);
  if (!files) throw missing('kernel', hash);
  return kernelOfFiles(files);
}

/** A kernel of the page. */
export async function kernelOfFiles(files: KernelFiles): Promise<KernelImage> {
  const [load, lines] = await Promise.all([partOf(files.load), partOf(files.lines)]);
  const bytes = joined(lines.subarray(0, HEADER), load.subarray(HEADER), lines.subarray(HEADER));
  let whole: Promise<Uint8Array> | undefined;
  return {
    elf: new Elf(bytes, 'kernel'),
    bytes,
    isWhole: false,
    tidPlace: files.tidPlace,
    whole: () => (whole ??= wholeOf(files, load, bytes)),
  };
}

export async function programOf(capsule: Capsule, { images }: Assets): Promise<Uint8Array> {
  const { isPresent, sha256: hash } = capsule.part('initrd.bin')!;
  if (isPresent) return capsule.read('initrd.bin');
  const files = images.find(image => image.sha256 === hash);
  if (!files) throw missing('program', hash);
  return partOf({ path: files.path, sha256: hash }, 'program');
}

async function partOf({ path, sha256: hash }: Part, what = 'kernel'): Promise<Uint8Array> {
  const bytes = await beside(path);
  if (sha256(bytes) !== hash) throw damaged(what);
  return bytes;
}

/** The whole image, of its parts. */
async function wholeOf(files: KernelFiles, load: Uint8Array, lines: Uint8Array): Promise<Uint8Array> {
  const rest = await beside(files.rest);
  const pieces = [load];
  let [at, from] = [load.length, 0];
  for (const [place, source, bytes] of files.copies) {
    pieces.push(rest.subarray(from, from + place - at), lines.subarray(source, source + bytes));
    from += place - at;
    at = place + bytes;
  }
  const whole = joined(...pieces, rest.subarray(from));
  if (sha256(whole) !== files.sha256) throw damaged('kernel');
  return whole;
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
