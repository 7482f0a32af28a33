// Described system calls: the declarations of description files, on a kernel's table.
import { aString, hasParts, is, listOf } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import { parseDescriptions as parseInner } from '../../fuzz/language/parse.ts';
import { parseSyscalls } from '../../fuzz/language/syscalls.ts';
import type { CallType, FlagSet, Descriptions as Inner, Resource } from '../../fuzz/language/types.ts';
import { parseProgram } from '../../fuzz/program/text.ts';
import { A_FILE, check } from './checks.ts';
import { type GeneratorOptions, type ProgramGenerator, toGenerator } from './generator.ts';
import { type Program, toProgram } from './program.ts';

/** A description file: `name` stands in messages, `text` are its declarations. */
export interface DescriptionFile {
  readonly name: string;
  readonly text: string;
}

/** With all its parts: programs are made of them, and callers have them in their hands. */
function freeze(value: unknown): void {
  if (!hasParts(value) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value as object)) freeze(part);
}

/** @internal */
export let innerDescriptions: (descriptions: Descriptions) => Inner;
/** @internal */
export let toDescriptions: (inner: Inner) => Descriptions;

/**
 * System calls with the types of their arguments. `parseDescriptions` makes one, and
 * `kernelDescriptions` of `kcovbox/node` one of the guest kernel.
 */
export class Descriptions {
  readonly #inner: Inner;

  static {
    innerDescriptions = descriptions => descriptions.#inner;
    toDescriptions = inner => {
      // A resource stands behind its parent, so nothing is deep.
      for (const part of [...inner.resources.values(), ...inner.flags.values(), ...inner.calls]) freeze(part);
      return new Descriptions(inner);
    };
  }

  private constructor(inner: Inner) {
    if (!hasParts(inner, 'byName'))
      throw new KcovboxError(
        'input',
        'new Descriptions: the constructor is private; parseDescriptions makes one',
      );
    this.#inner = inner;
  }

  /**
   * All calls in the order of their names. One that no file describes has arguments of unknown
   * type: any 64 bits.
   */
  get calls(): readonly CallType[] {
    return [...this.#inner.calls];
  }

  /** The call with this name, such as `openat` or `fcntl$dupfd`; undefined: there is none. */
  call(name: string): CallType | undefined {
    check('Descriptions.call', ['name', name, aString]);
    return this.#inner.byName.get(name);
  }

  /** Kinds of values that one call makes and another one takes, in the order of the files. */
  get resources(): readonly Resource[] {
    return [...this.#inner.resources.values()];
  }

  /** Sets of bits and of values, in the order of the files. */
  get flags(): readonly FlagSet[] {
    return [...this.#inner.flags.values()];
  }

  /**
   * Reads the text of a program (docs/fuzzing.md, "Programs").
   *
   * @param name - stands in messages, in front of the number of the line.
   * @throws KcovboxError of kind `input`, with the line, if it is no program of these calls.
   */
  program(text: string, name = 'program'): Program {
    check('Descriptions.program', ['text', text, aString], ['name', name, aString]);
    return toProgram(parseProgram(text, this.#inner, name), this.#inner);
  }

  /**
   * A source of programs. Equal options give the same programs in the same order, on any machine.
   *
   * @throws KcovboxError of kind `input` if a name of `calls` matches no call.
   */
  generator(options: GeneratorOptions = {}): ProgramGenerator {
    return toGenerator(this.#inner, options);
  }
}

const FILES = listOf(A_FILE);
const TABLE = is(
  'the text of a table of system calls: lines SYSCALL(number, name, arguments)',
  value => typeof value === 'string',
);

/**
 * Reads description files (docs/fuzzing.md, "Descriptions").
 *
 * @param files - in the order in which they need one another.
 * @param syscalls - the kernel's table: a line `SYSCALL(63, read, 3)` for each system call, with
 *   its number, its name and the number of its arguments; other lines say nothing. A call that no
 *   file describes has arguments of unknown type.
 * @throws KcovboxError of kind `input`, with file and line, for a declaration that cannot be read.
 */
export function parseDescriptions(files: readonly DescriptionFile[], syscalls: string): Descriptions {
  check('parseDescriptions', ['files', files, FILES], ['syscalls', syscalls, TABLE]);
  return toDescriptions(parseInner(parseSyscalls([syscalls]), files));
}
