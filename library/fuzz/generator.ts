// New and changed programs.
import {
  aBigint,
  aBoolean,
  aName,
  aUint64,
  hasParts,
  is,
  listOf,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import type { Descriptions } from '../../fuzz/language/types.ts';
import { Choice, Generator } from '../../fuzz/program/generate.ts';
import { mutate } from '../../fuzz/program/mutate.ts';
import { type Program as Inner, keepExact } from '../../fuzz/program/program.ts';
import { Random } from '../../fuzz/program/random.ts';
import { aFilledList, check } from './checks.ts';
import { A_PROGRAM, describedBy, innerProgram, type Program, toProgram } from './program.ts';

export interface GeneratorOptions {
  /** Of all random choices. Default: 1n. */
  readonly seed?: bigint;
  /** Names of the calls that programs may make; `*` stands for any text. Default: all calls. */
  readonly calls?: readonly string[];
  /** Numbers to try in arguments: operands of comparisons of the kernel. Default: none. */
  readonly dictionary?: readonly bigint[];
  /** Changed programs may have allocations that fail; the kernel needs fail-nth. Default: false. */
  readonly failsAllocations?: boolean;
}

const OPTIONS = optionsOf<GeneratorOptions>({
  seed: optional(aUint64),
  calls: optional((value, path) => listOf(aName)(value, path) ?? aFilledList(value, path)),
  dictionary: optional(listOf(aBigint)),
  failsAllocations: optional(aBoolean),
});

/** Changes of a program after which a new one takes its place; nearly all need one. */
const TRIES_MAX = 100;

/** @internal */
export let toGenerator: (descriptions: Descriptions, options: GeneratorOptions) => ProgramGenerator;

/**
 * Makes programs that use what earlier calls have made, as `kcovbox fuzz` does, and changes them.
 * `Descriptions.generator` makes one.
 */
export class ProgramGenerator {
  readonly #descriptions: Descriptions;
  readonly #random: Random;
  readonly #dictionary: readonly bigint[];
  readonly #failsAllocations: boolean;
  readonly #generator: Generator;

  static {
    toGenerator = (descriptions, options) => new ProgramGenerator(descriptions, options);
  }

  private constructor(descriptions: Descriptions, options: GeneratorOptions) {
    if (!hasParts(descriptions, 'byName'))
      throw new KcovboxError(
        'input',
        'new ProgramGenerator: the constructor is private; Descriptions.generator makes one',
      );
    check('Descriptions.generator', ['options', options, OPTIONS]);
    const { seed = 1n, calls, dictionary = [], failsAllocations = false } = options;
    this.#descriptions = descriptions;
    this.#random = new Random(seed);
    this.#dictionary = [...dictionary];
    this.#failsAllocations = failsAllocations;
    this.#generator = new Generator(this.#random, new Choice(descriptions, calls), this.#dictionary);
  }

  /** A new program: 1 to 8 calls or a few more, and calls that make resources for them. */
  program(): Program {
    for (;;) {
      const program = this.#generator.program();
      if (keepExact(program)) return toProgram(program, this.#descriptions);
    }
  }

  /**
   * A changed copy: calls are added, repeated and removed, arguments changed.
   *
   * @param others - programs of which parts may be taken; default: none.
   * @throws KcovboxError of kind `input` if one of them was made of other descriptions.
   */
  mutate(program: Program, others: readonly Program[] = []): Program {
    const own = is(
      'a program of the same descriptions; Descriptions.program reads its text',
      value => describedBy(value as Program) === this.#descriptions,
    );
    const ofThese: typeof own = (value, path) => A_PROGRAM(value, path) ?? own(value, path);
    check('ProgramGenerator.mutate', ['program', program, ofThese], ['others', others, listOf(ofThese)]);
    const how = {
      random: this.#random,
      generator: this.#generator,
      dictionary: this.#dictionary,
      others: others.map(innerProgram),
      failsAllocations: this.#failsAllocations,
    };
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const changed: Inner = mutate(innerProgram(program), how);
      if (keepExact(changed)) return toProgram(changed, this.#descriptions);
    }
    return this.program();
  }
}
