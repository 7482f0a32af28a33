// The things that judging needs of its host: a compiler, the kernel's sources, a hash. On Node they
// come from toolchain/ (host/lab/workshop.ts), in the page from `kcovbox serve` (web/labs/).
import type { machineOptions } from '../../host/machine.ts';
import type { Arrival } from '../../run/input.ts';
import type { RunDescription, RunOutcome } from '../../run/schema.ts';
import type { Files } from './lab.ts';

export type Images = Parameters<typeof machineOptions>[0];
export type Choice = Parameters<typeof machineOptions>[1];
export type Dialect = RunDescription['kernel']['dialect'];

/** A run that has ended, as a capsule keeps it. */
export interface Kept {
  readonly images: Images;
  readonly choice: Choice;
  readonly outcome: RunOutcome;
  readonly journal: readonly Arrival[];
  readonly printed: Uint8Array;
}

export interface Workshop {
  /** SHA-256 in hexadecimal digits. */
  sha256(bytes: Uint8Array): string;
  /** Text of a file of the kernel; undefined: there is none. */
  source(path: string): string | undefined;
  /** Names in a folder of the kernel. */
  folder(path: string): readonly string[];
  /** An ELF file. Errors: CompileError. */
  kernel(conf: string, overlay: Files): Promise<Uint8Array>;
  /** The ELF file of a program, `name` of `files`. Errors: CompileError. */
  program(files: ReadonlyMap<string, Uint8Array>, name: string, dialect: Dialect): Promise<Uint8Array>;
  /** A device of the lab's or the student's. Errors: one line. */
  device(name: string, bytes: Uint8Array): NonNullable<Choice['devices']>[number];
  /** The bytes of a capsule with its images. */
  capsule(run: Kept): Uint8Array;
  /** Lets others of the process have their turn: signals, messages. */
  turn(): Promise<void>;
}
