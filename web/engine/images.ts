// The images of a run: those in its capsule, or those beside the page that have their hashes.
import { CoverageError, Elf } from '../../coverage/index.ts';
import { isElf, KcovboxError } from '../../emulator/index.ts';
import { type Capsule, imagesOf } from '../../run/capsule/index.ts';
import type { Assets, KernelFiles, Part } from '../protocol.ts';
import { beside, sha256Of } from './host.ts';

/** Of an ELF file. */
const HEADER = 64;
/** A function of every kernel that the compiler has given hooks of kcov. */
const HOOK = '__sanitizer_cov_trace_pc';

export interface KernelImage {
  /** Undefined: it has no hooks of kcov, so it has no states of lines. */
  readonly elf: Elf | undefined;
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

/** Undefined: the machine has none, but firmware. */
export async function kernelOf(capsule: Capsule, { kernels }: Assets): Promise<KernelImage | undefined> {
  const part = capsule.part('kernel.bin');
  if (!part) return undefined;
  const { isPresent, sha256: hash } = part;
  if (isPresent) {
    const bytes = capsule.read('kernel.bin');
    const isProgram = capsule.manifest.run.format === 'kcovbox run';
    const elf = isProgram ? new Elf(bytes, 'kernel') : elfOf(bytes);
    return { elf, bytes, isWhole: true, whole: async () => bytes };
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

/** A whole machine starts other files, too; undefined: it is no kernel with hooks of kcov. */
function elfOf(bytes: Uint8Array): Elf | undefined {
  if (!isElf(bytes)) return undefined;
  try {
    const elf = new Elf(bytes, 'kernel');
    return elf.symbols.named(HOOK).length > 0 ? elf : undefined;
  } catch (error) {
    if (error instanceof CoverageError) return undefined;
    throw error;
  }
}

/** All images but the kernel, by the names of their parts. */
export async function othersOf(
  capsule: Capsule,
  { images }: Assets,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = imagesOf(capsule.manifest).filter(([name]) => name !== 'kernel.bin');
  const one = async ([name, hash]: [string, string]): Promise<[string, Uint8Array]> => {
    if (capsule.part(name)!.isPresent) return [name, capsule.read(name)];
    const files = images.find(image => image.sha256 === hash);
    if (!files) throw missing(name === 'initrd.bin' ? 'program' : name, hash);
    return [name, await partOf({ path: files.path, sha256: hash }, 'program')];
  };
  return new Map(await Promise.all(named.map(one)));
}

async function partOf({ path, sha256: hash }: Part, what = 'kernel'): Promise<Uint8Array> {
  const bytes = await beside(path);
  if ((await sha256Of(bytes)) !== hash) throw damaged(what);
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
  if ((await sha256Of(whole)) !== files.sha256) throw damaged('kernel');
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
