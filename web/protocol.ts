// The messages between the page and its worker. Everything is plain data: addresses are
// hexadecimal texts, places of the run are units.
import type { LineState } from '../coverage/index.ts';

/** An image that capsules name by its hash: a kernel, or an archive with a program. */
export interface ImageFiles {
  /** SHA-256 of the whole image. */
  readonly sha256: string;
  /** Parts in order, packed with gzip: of a kernel, the loaded part and the rest. */
  readonly parts: readonly string[];
}

/** One line of the list of programs. */
export interface ProgramRow {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly dialect: string;
  /** Path of the capsule, relative to the page. */
  readonly capsule: string;
}

/** dist/web/index of the assets. */
export interface Assets {
  readonly programs: readonly ProgramRow[];
  readonly images: readonly ImageFiles[];
  /** Path of the source texts, compressed with gzip: a JSON object by path. */
  readonly sources: string;
  /** Names of system calls by their numbers. */
  readonly syscalls: Readonly<Record<string, string>>;
  /** Path of the compiler, where the page's host is `kcovbox serve`. */
  readonly compiler?: string;
}

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
  readonly kind: 'syscall' | 'interrupt' | 'exception';
  readonly name: string;
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
  /** The program's first instruction. */
  readonly start: number;
  /** Empty: the run is the recorded one. Else the differences. */
  readonly differences: readonly string[];
  readonly stateHash: string;
  readonly end: string;
  /** The output, and the place of each byte. */
  readonly console: { readonly bytes: Uint8Array; readonly units: Float64Array };
  /** False: the program never switched kcov on. */
  readonly hasRecords: boolean;
  readonly records: number;
  readonly events: readonly RunEvent[];
  /** Addresses of the files that the worker has loaded. */
  readonly files: readonly string[];
  /** Events that were left out of the list. */
  readonly moreEvents: number;
  readonly growth: Growth;
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
  /** Undefined: optimised out here. */
  readonly value: string | undefined;
  readonly isParameter: boolean;
}

/** The buffer of the kcov descriptor that the hart records into. */
export interface BufferView {
  readonly mode: string;
  readonly tid: number;
  readonly handle: string;
  readonly words: number;
  /** Word 0 and the words behind it, as far as they are shown. */
  readonly shown: readonly string[];
}

/** The state at one moment: what all views show. */
export interface Focus {
  readonly unit: number;
  readonly hart: number;
  readonly harts: readonly { readonly id: number; readonly place: string; readonly isWaiting: boolean }[];
  readonly frames: readonly FrameRow[];
  readonly level: number;
  readonly variables: readonly VariableRow[];
  readonly registers: readonly (readonly [name: string, value: string])[];
  readonly records: number;
  readonly buffer: BufferView | undefined;
  /** Why the run stands here, where a motion has led to it. */
  readonly reason: string;
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

/** Name, arguments and answer of each request. */
export interface Requests {
  /** `capsule`: or the text of an address. `texts`: sources that the page has not, by path. */
  open: [
    {
      capsule: Uint8Array | string;
      name: string;
      assets: Assets;
      base: string;
      inlined: Inlined | undefined;
      texts: Readonly<Record<string, string>>;
    },
    Opened,
  ];
  files: [{ measure: Measure }, readonly FileRow[]];
  lines: [{ measure: Measure; path: string }, { text: string | undefined; lines: Lines }];
  seek: [{ unit: number; hart?: number }, Focus];
  look: [{ hart?: number; level?: number }, Focus];
  move: [Motion, Focus];
  breakpoints: [{ places: readonly string[] }, readonly string[]];
  /** The run in the letters of an address, and its bytes without the images of the page. */
  share: [object, { run: string | undefined; bytes: number }];
  /** A capsule with all images. */
  file: [object, Uint8Array];
  moments: [{ place: string }, readonly MomentRow[]];
  lastWrite: [{ what: string }, (MomentRow & { readonly place: string }) | undefined];
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
