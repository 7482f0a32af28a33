// An executable with its debug information: what traces were recorded on.

import {
  addrOf,
  CallSites,
  codeWindow,
  Elf,
  type Hooks,
  type Frame as InnerFrame,
  keepPoint,
  Program,
  Symbolizer,
} from '../../coverage/index.ts';
import { aBigint, aString, bytesOf, is, listOf, optional, optionsOf } from '../../emulator/base/arguments.ts';
import { check } from './checks.ts';

/** One function at an address; several where calls were inlined. */
export interface Frame {
  /** '' where unknown. */
  readonly function: string;
  /** As the compiler wrote it; '' where unknown. */
  readonly file: string;
  /** Counted from 1; 0 where unknown. */
  readonly line: number;
  readonly column: number;
  /** Was this function inlined into the next frame? */
  readonly inline: boolean;
}

/** Parts of a program. An absent field selects everything. */
export interface Selection {
  /** Globs over source paths, any of which selects; `*` stays within a folder, `**` does not. */
  readonly files?: readonly string[];
  /** Regular expression over names of functions. */
  readonly functions?: string;
  /** Ranges of code, `0xLOW-0xHIGH`, the upper bound exclusive, any of which selects. */
  readonly pcs?: readonly string[];
}

const A_PATTERN = is('a pattern that is not empty', value => typeof value === 'string' && value !== '');

/** @internal */
export const SELECTION = optionsOf<Selection>({
  files: optional(listOf(A_PATTERN)),
  functions: optional(A_PATTERN),
  pcs: optional(listOf(aString)),
});

/** @internal */
export let elfOf: (image: Image) => Elf;
/** Where hooks are called; undefined: the image has none. @internal */
export let sitesOf: (image: Image) => CallSites | undefined;
/** @internal */
export let programOf: (image: Image, hooks: Hooks, selection: Selection) => Program;

/** A linked ELF file for RV64, with symbols and debug information where lines are asked for. */
export class Image {
  readonly #elf: Elf;
  readonly #programs = new Map<string, Program>();
  #symbolizer: Symbolizer | undefined;
  #sites: CallSites | undefined;

  static {
    elfOf = image => image.#elf;
    sitesOf = image => image.#callSites();
    programOf = (image, hooks, selection) => image.#program(hooks, selection);
  }

  /**
   * @param bytes - of the file; kept, not copied.
   * @param name - of the file, for messages.
   * @throws KcovboxError of kind `coverage` if it is anything else, or damaged.
   */
  constructor(bytes: Uint8Array, name = 'image') {
    check('new Image', ['bytes', bytes, bytesOf('an ELF file')], ['name', name, aString]);
    this.#elf = new Elf(bytes, name);
  }

  /** Names the image in traces: `build-id:HEX` or `sha256:HEX`. */
  get id(): string {
    return this.#elf.imageId;
  }

  /**
   * The virtual addresses `[low, high)` of all code: what `countInstructions` of a machine takes.
   */
  get codeWindow(): { readonly low: bigint; readonly high: bigint } {
    return codeWindow(this.#elf);
  }

  /**
   * Functions and source lines at an address, innermost first, inlined calls included.
   *
   * @param pc - an address of code, or what kcov recorded: the return address of a hook call, which
   *   stands for the call.
   * @returns at least one frame; its fields are empty for an address that nothing is known of.
   */
  symbolize(pc: bigint): Frame[] {
    check('Image.symbolize', ['pc', pc, aBigint]);
    this.#symbolizer ??= new Symbolizer(this.#elf);
    const site = this.#callSites()?.find(addrOf(pc)) ?? -1;
    const addr = site < 0 ? addrOf(pc) : this.#sites!.call[site]!;
    return this.#symbolizer
      .frames(addr)
      .map(({ function: name, file, line, column, inline }: InnerFrame) => ({
        function: name,
        file,
        line,
        column,
        inline,
      }));
  }

  #callSites(): CallSites | undefined {
    try {
      this.#sites ??= new CallSites(this.#elf);
    } catch {} // an image without hooks
    return this.#sites;
  }

  /** One for each selection, so that coverages of equal selections can be compared. */
  #program(hooks: Hooks, { files, functions, pcs }: Selection): Program {
    const key = JSON.stringify([hooks, files, functions, pcs]);
    let program = this.#programs.get(key);
    if (!program) {
      const keep = keepPoint({ files: files && [...files], functions, pcs: pcs && [...pcs] });
      program = new Program(this.#elf, { hooks, keep });
      this.#programs.set(key, program);
    }
    return program;
  }
}

/** @internal */
export const AN_IMAGE = is('an Image: new Image(bytes) makes one', value => value instanceof Image);
