// The messages between the page and its worker. Everything is plain data: addresses are
// hexadecimal texts, places of the run are units.
import type { LineState } from '../coverage/index.ts';

/** A file that is packed with gzip, with the SHA-256 of its contents. */
export interface Part {
  readonly path: string;
  readonly sha256: string;
}

/** An image that capsules name by its hash: an archive with a program. */
export interface ImageFiles {
  /** SHA-256 of the whole image. */
  readonly sha256: string;
  readonly path: string;
}

/**
 * A kernel in three parts, each of use before the next one is there: what is loaded, what names
 * lines, and the rest of the debug information.
 */
export interface KernelFiles {
  readonly dialect: string;
  /** SHA-256 of the whole image, and its length. */
  readonly sha256: string;
  readonly bytes: number;
  readonly load: Part;
  /** The header and the end of an ELF file; the loaded part is between them. */
  readonly lines: Part;
  /** The whole image from the loaded part on, without what `lines` has too. */
  readonly rest: string;
  /** Pieces of that: place in the whole image, place in the image with lines, bytes. */
  readonly copies: readonly (readonly [at: number, from: number, bytes: number])[];
  /** The place of `tid` in struct thread. */
  readonly tidPlace?: number | undefined;
}

/** One line of the list of programs. */
export interface ProgramRow {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly dialect: string;
  /** Path of the capsule, relative to the page. */
  readonly capsule: string;
  /** Of the capsule: a hash of all of it, which names its images and its outcome. */
  readonly seal: string;
  /** Files without which nothing is shown, in the order of their use. */
  readonly needs: readonly string[];
}

/** A line of the source, of one of the programs. */
export interface FirstPlace {
  readonly program: string;
  readonly file: string;
  readonly line: number;
}

/** dist/web/assets.packed. */
export interface Assets {
  readonly programs: readonly ProgramRow[];
  /** Shown for an address without a place. */
  readonly first: FirstPlace;
  readonly kernels: readonly KernelFiles[];
  readonly images: readonly ImageFiles[];
  /**
   * Source texts, names by their folders in the repository: below `folder` each has its path and
   * `.packed`.
   */
  readonly sources: { readonly folder: string; readonly names: Readonly<Record<string, readonly string[]>> };
  /** Names of system calls by their numbers. */
  readonly syscalls: readonly (string | null)[];
  /** Path of the compiler, where the page's host is `kcovbox serve`. */
  readonly compiler?: string;
}

/** Paths of the page's own scripts, packed, where it is a folder. */
export interface Scripts {
  readonly page: string;
  readonly style: string;
  readonly worker: string;
  readonly libraries: Readonly<Record<Library, string>>;
  /** Names this build of the page and its data. */
  readonly build: string;
}
export type Library = 'xterm' | 'uplot' | 'cpp' | 'commands';

/** Files that are in the page itself, unpacked, by their paths; where it is one file. */
export type Inlined = ReadonlyMap<string, Uint8Array>;

/** Which instructions count as covered: those that kcov recorded, or all that retired. */
export type Measure = 'kcov' | 'all';

export interface FileRow {
  readonly path: string;
  readonly covered: number;
  readonly total: number;
  readonly hasText: boolean;
}

/** An event of the run, in order. */
export interface RunEvent {
  readonly unit: number;
  readonly hart: number;
  readonly kind: 'syscall' | 'interrupt' | 'exception' | 'kcov';
  readonly name: string;
  /** The thread that trapped; undefined: not known. */
  readonly thread?: number | undefined;
}

/** A thread or a remote section: units of its records and of its traps. */
export interface Lane {
  readonly name: string;
  readonly units: readonly number[];
  readonly traps: readonly number[];
}

/** The new points that kcov recorded up to a unit. */
export interface Growth {
  readonly units: readonly number[];
  readonly points: readonly number[];
}

export interface Opened {
  readonly title: string;
  readonly dialect: string;
  readonly harts: number;
  readonly instructions: number;
  /** The first and the last place. */
  readonly first: number;
  readonly last: number;
  /** Empty: the run is the recorded one. Else the differences. */
  readonly differences: readonly string[];
  readonly stateHash: string;
  readonly end: string;
  /** The output, and the place of each byte. */
  readonly console: { readonly bytes: Uint8Array; readonly units: Float64Array };
  /** False: kcov has recorded no PC, but comparisons at most. */
  readonly hasPoints: boolean;
  readonly records: number;
  readonly growth: Growth;
}

/** Facts that take a second execution. */
export interface Details {
  /** The program's first statement in main. */
  readonly start: number;
  readonly events: readonly RunEvent[];
  /** Events that were left out of the list. */
  readonly moreEvents: number;
  readonly lanes: readonly Lane[];
  /** Threads and sections that were left out. */
  readonly moreLanes: number;
}

export interface FrameRow {
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly pc: string;
  readonly isInlined: boolean;
}

export interface VariableRow {
  readonly name: string;
  readonly type: string;
  readonly value?: string;
  /** Why there is no value. */
  readonly absence?: string;
  readonly isParameter: boolean;
}

/** One record in a kcov buffer. */
export interface BufferRow {
  readonly index: number;
  /** The recorded PC, and the physical address of the record. */
  readonly word: string;
  readonly address: string;
  /** The place of the call that recorded it. */
  readonly function: string;
  readonly file: string;
  readonly line: number;
  /** When it was written; undefined: not known. */
  readonly unit: number | undefined;
  readonly comparison: string | undefined;
}

/** The kcov buffer into which the hart records, or the one that was recorded into last. */
export interface BufferView {
  readonly owner: string;
  readonly mode: string;
  /** Its size; 0: not known now. */
  readonly words: number;
  /** Word 0, and its physical address. */
  readonly count: string;
  readonly address: string;
  /** Records in it, and a page of them. */
  readonly records: number;
  readonly rows: readonly BufferRow[];
}

/** A function of the kernel that ran. */
export interface FunctionRow {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** Calls; at least so many where `isLeast`. */
  readonly calls: number;
  readonly isLeast: boolean;
  readonly covered: number;
  readonly total: number;
}

/** The calls of one system call or remote section, as the order of its records shows them. */
export interface CallsOf {
  readonly label: string;
  readonly by: string;
  readonly records: number;
  readonly isCut: boolean;
  readonly nodes: readonly {
    readonly name: string;
    readonly depth: number;
    readonly file: string;
    readonly line: number;
    /** Of its first record; undefined: not known. */
    readonly unit: number | undefined;
    readonly isInlined: boolean;
  }[];
}

/** The state at one moment: what all views show. */
export interface Focus {
  readonly unit: number;
  readonly hart: number;
  readonly harts: readonly { readonly id: number; readonly place: string; readonly isWaiting: boolean }[];
  readonly frames: readonly FrameRow[];
  readonly level: number;
  /** Undefined: types and variables of this image are not loaded; ask for `state`. */
  readonly variables: readonly VariableRow[] | undefined;
  readonly registers: readonly (readonly [name: string, value: string])[];
  readonly records: number;
  readonly buffer: BufferView | undefined;
  /** Why the run stands here, where a motion has led to it. */
  readonly reason: string;
}

/** A moment at which a datum was written. */
export interface DatumWrite extends MomentRow {
  readonly place: string;
  /** Behind it; '': not known. */
  readonly value: string;
}

/** A datum that the reader follows; web/engine/datum.ts has the forms of its name. */
export interface DatumView {
  readonly what: string;
  readonly value: string;
  readonly place: string;
  /** The last ones before the moment, the latest first. */
  readonly writes: readonly DatumWrite[];
  /** Are these all? */
  readonly isWhole: boolean;
}

export interface Motion {
  readonly way: 'step' | 'next' | 'finish' | 'instruction' | 'continue';
  readonly direction: 'forward' | 'back';
}

export interface MomentRow {
  readonly unit: number;
  readonly hart: number;
}

/** Lines of a file by number: their state, and executions where they are known. */
export type Lines = readonly (readonly [line: number, state: LineState, hits: number])[];

/** One source file with its states. */
export interface SourceLines {
  readonly text: string | undefined;
  /** A line for people: why there is no text, or why it may be another one than the compiler's. */
  readonly note?: string | undefined;
  readonly lines: Lines;
  /** Of the capsule (`ProgramRow`); undefined: the run was not the recorded one, or it has none. */
  readonly seal: string | undefined;
}

/**
 * `capsule`: or the text of an address, or a program, which is recorded on the kernel of `dialect`.
 * `texts`: sources that the page has not.
 */
export interface ToOpen {
  readonly capsule: Uint8Array | string;
  readonly name: string;
  readonly dialect?: string;
  readonly assets: Assets;
  readonly texts: Texts;
}

/** Source texts, as they were compiled. `name`: or a path. */
export type Texts = readonly { readonly name: string; readonly text: Uint8Array }[];

/** A text that no image of the run was compiled from. */
export interface Stranger {
  readonly name: string;
  /** There is a source of this name, which is another text. */
  readonly isOther: boolean;
}

/** Name, arguments and answer of each request. */
export interface Requests {
  /** Everything that opening needs but the run: a file that is none ends here. */
  prepare: [ToOpen, undefined];
  /** Of what was prepared. */
  open: [object, Opened];
  details: [object, Details];
  files: [{ measure: Measure }, readonly FileRow[]];
  functions: [{ measure: Measure }, readonly FunctionRow[]];
  calls: [object, { readonly calls: readonly CallsOf[]; readonly more: number }];
  lines: [{ measure: Measure; path: string }, SourceLines];
  /** Adds source texts that the page has not; those of them that belong to nothing. */
  sources: [{ texts: Texts }, readonly Stranger[]];
  /** Of all texts that were added. */
  strangers: [object, readonly Stranger[]];
  /** Without a unit: to the beginning of the program. */
  seek: [{ unit?: number; hart?: number }, Focus];
  look: [{ hart?: number; level?: number }, Focus];
  /** The focus with its variables. */
  state: [object, Focus];
  move: [Motion, Focus];
  breakpoints: [{ places: readonly string[] }, readonly string[]];
  /** The run in the letters of an address, and its bytes without the images of the page. */
  share: [object, { run: string | undefined; bytes: number }];
  /** A capsule with all images. */
  file: [object, Uint8Array];
  moments: [{ place: string }, readonly MomentRow[]];
  /** A page of records of the kcov buffer, from an index on; without one: the last page. */
  buffer: [{ from?: number }, BufferView | undefined];
  /** From now on the datum is the one that has this name at this moment. */
  follow: [{ what: string }, undefined];
  /** `at`: names the moment, so that the question differs. */
  datum: [{ at: string }, DatumView | undefined];
  write: [{ direction: 'forward' | 'back' }, DatumWrite | undefined];
}

export type RequestName = keyof Requests;
export interface Request<N extends RequestName = RequestName> {
  readonly id: number;
  readonly name: N;
  readonly args: Requests[N][0];
}
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: string };

/** The worker has no network: it asks the page for the files beside it, which are sent unpacked. */
export interface Wanted {
  readonly want: string;
}
export type Sent =
  | { readonly path: string; readonly bytes: Uint8Array }
  | { readonly path: string; readonly error: string };
