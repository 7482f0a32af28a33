// The images of a capsule that is replayed: those in it, and for a thin one those that the caller
// gives, that were kept on this machine, or that can be built here. A hash decides whether one is
// the right one.
import { KcovboxError } from '../emulator/index.ts';
import { type Capsule, imagesOf } from '../run/capsule/index.ts';
import type { RunDescription } from '../run/index.ts';
import { buildKernel, sha256 } from '../toolchain/index.ts';
import { inCapsule } from './capsule.ts';
import { packProgram } from './guest.ts';
import { findImage } from './image-store.ts';
import { readInput } from './input.ts';

/** The images from the caller. */
export interface Given {
  /** Paths of images, each of which must be one of the capsule's; of a run also the program. */
  readonly files: readonly string[];
  /** Path of a kernel image. */
  readonly kernel?: string | undefined;
  /** Compiler flags of the program. */
  readonly cflags?: readonly string[];
  /** How the caller is told to give a kernel: the end of a sentence. */
  readonly kernelHint: string;
  /** How the caller is told to give the file of this name. */
  readonly fileHint: (name: string) => string;
}

const refused = (why: string): KcovboxError => new KcovboxError('input', why);
const short = (hash: string): string => `sha256 ${hash.slice(0, 16)}...`;

class Finder {
  readonly #name: string;
  readonly #capsule: Capsule;
  readonly #given: Given;
  readonly #run: RunDescription | undefined;
  /** Files that were given and no image is found in yet, by their hash. */
  readonly #waiting = new Map<string, { path: string; bytes: Uint8Array }>();

  constructor(name: string, capsule: Capsule, given: Given) {
    this.#name = name;
    this.#capsule = capsule;
    this.#given = given;
    const { run } = capsule.manifest;
    this.#run = run.format === 'kcovbox run' ? run : undefined;
    for (const path of [...given.files, ...(given.kernel === undefined ? [] : [given.kernel])]) {
      const bytes = readInput(path, path === given.kernel ? 'kernel' : 'image');
      this.#waiting.set(sha256(bytes), { path, bytes });
    }
  }

  async find(): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    for (const [part, hash] of imagesOf(this.#capsule.manifest))
      found.set(part, await this.#image(part, hash));
    this.#checkGiven();
    return found;
  }

  async #image(part: string, hash: string): Promise<Uint8Array> {
    const given = this.#waiting.get(hash)?.bytes ?? (await this.#packed(part, hash));
    this.#waiting.delete(hash);
    if (this.#capsule.part(part)?.isPresent) return inCapsule(this.#name, () => this.#capsule.read(part));
    const bytes = given ?? findImage(hash)?.bytes ?? (await this.#built(part, hash));
    if (bytes) return bytes;
    this.#checkGiven();
    throw this.#missing(part, hash);
  }

  /** The recorded root file system, made of a program that was given. */
  async #packed(part: string, hash: string): Promise<Uint8Array | undefined> {
    if (!this.#run || part !== 'initrd.bin') return undefined;
    const { cflags = [], kernel } = this.#given;
    for (const [key, { path }] of this.#waiting) {
      if (path === kernel) continue;
      const { initrd } = await packProgram(path, {
        dialect: this.#run.kernel.dialect,
        cflags,
        trace: this.#run.program.trace,
      });
      if (sha256(initrd) !== hash) continue;
      this.#waiting.delete(key);
      return initrd;
    }
    return undefined;
  }

  /** The recorded kernel, built for its configuration. */
  async #built(part: string, hash: string): Promise<Uint8Array | undefined> {
    if (!this.#run || part !== 'kernel.bin') return undefined;
    const bytes = readInput((await buildKernel(this.#run.kernel.conf)).path, 'kernel');
    return sha256(bytes) === hash ? bytes : undefined;
  }

  /** Every file that was given is one of the images. */
  #checkGiven(): void {
    for (const [hash, { path }] of this.#waiting) {
      const name = this.#name;
      const run = this.#run;
      if (!run) throw refused(`${path} is none of the images that ${name} was recorded with`);
      if (path === this.#given.kernel)
        throw refused(
          `${name} was recorded with another kernel: ${short(run.images.kernel.sha256)}, ${path} is ${short(hash)}`,
        );
      throw refused(
        `${name} was recorded with another program: ${run.program.name} ${short(run.images.program)}, not ${path}; bring it back as it was, with the same compiler flags`,
      );
    }
  }

  #missing(part: string, hash: string): KcovboxError {
    const { kernelHint, fileHint } = this.#given;
    const name = this.#name;
    const run = this.#run;
    if (run && part === 'kernel.bin')
      return refused(
        `${name} was recorded with another guest kernel: ${short(hash)}, the ${run.kernel.conf} kernel is another one now; ${kernelHint}`,
      );
    if (run)
      return refused(
        `the program of ${name} is not in the cache (${run.program.name}, ${short(run.images.program)}): ${fileHint(`${run.program.name}.c`)}`,
      );
    return refused(
      `${part} of ${name} is neither in it nor in the cache (${short(hash)}): ${fileHint(part)}`,
    );
  }
}

/**
 * The images by the names of their parts; `name`: of the capsule, for messages. Errors:
 * KcovboxError that says which one is missing, or which file was given that is none of them.
 */
export const capsuleImages = (
  name: string,
  capsule: Capsule,
  given: Given,
): Promise<ReadonlyMap<string, Uint8Array>> => new Finder(name, capsule, given).find();
