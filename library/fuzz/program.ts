// A program of system calls.
import { aFunction, aWhole, hasParts, is } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import type { Descriptions } from '../../fuzz/language/types.ts';
import { programC } from '../../fuzz/program/c.ts';
import { copyProgram, type Program as Inner, removeCall } from '../../fuzz/program/program.ts';
import { reduce } from '../../fuzz/program/reduce.ts';
import { programText } from '../../fuzz/program/text.ts';
import { check } from './checks.ts';

/** @internal */
export let innerProgram: (program: Program) => Inner;
/** The descriptions that it was made of. @internal */
export let describedBy: (program: Program) => Descriptions;
let isProgram: (value: unknown) => boolean;
/** @internal */
export let toProgram: (inner: Inner, descriptions: Descriptions) => Program;

/**
 * A program of system calls. It never changes. `Descriptions.program` reads one from its text, a
 * `ProgramGenerator` makes one.
 */
export class Program {
  readonly #inner: Inner;
  readonly #descriptions: Descriptions;

  static {
    isProgram = value => hasParts(value) && #inner in (value as object);
    innerProgram = program => program.#inner;
    describedBy = program => program.#descriptions;
    toProgram = (inner, descriptions) => new Program(inner, descriptions);
  }

  private constructor(inner: Inner, descriptions: Descriptions) {
    if (!hasParts(inner, 'calls'))
      throw new KcovboxError(
        'input',
        'new Program: the constructor is private; Descriptions.program and a ProgramGenerator make one',
      );
    this.#inner = inner;
    this.#descriptions = descriptions;
  }

  /** One line a call (docs/fuzzing.md, "Programs"). Equal programs have equal texts. */
  get text(): string {
    return programText(this.#inner);
  }

  /** The names of its calls, in order: `openat`, or `fcntl$dupfd`. */
  get calls(): readonly string[] {
    return this.#inner.calls.map(({ type }) => type.name);
  }

  /**
   * The same calls as a C program, which `kcovbox run` and `run` of `kcovbox/node` compile and run.
   * It has no kcov of its own.
   *
   * @throws KcovboxError of kind `input` if its arguments need more memory than the guest's program
   *   has.
   */
  c(): string {
    return programC(this.#inner, 'A program of kcovbox/fuzz.');
  }

  /**
   * The program without a call. The usual value of its kind replaces a resource that the call made.
   *
   * @param index - of the call, from 0 on.
   */
  without(index: number): Program {
    const { length } = this.#inner.calls;
    if (length === 0) throw new KcovboxError('input', 'Program.without: the program has no calls');
    check('Program.without', ['index', index, aWhole(0, length - 1)]);
    const copy = copyProgram(this.#inner);
    removeCall(copy, index);
    return toProgram(copy, this.#descriptions);
  }

  /**
   * As few calls, failing allocations, threads and faults of devices as `shows` is true of, tried
   * one at a time from the last to the first. `shows` is not asked of this program itself.
   */
  minimize(shows: (candidate: Program) => boolean): Program {
    check('Program.minimize', ['shows', shows, aFunction]);
    const small = reduce(copyProgram(this.#inner), candidate =>
      shows(toProgram(copyProgram(candidate), this.#descriptions)),
    );
    return toProgram(small, this.#descriptions);
  }
}

/** @internal */
export const A_PROGRAM = is(
  'a Program: Descriptions.program and a ProgramGenerator make one',
  // Not a Proxy of one, and nothing else that only inherits from it.
  value => isProgram(value),
);
