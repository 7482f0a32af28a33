// The knowledge of a campaign between two epochs. Every worker has the same.

import type { BugFind, CampaignConfig } from '../../run/fuzz/schema.ts';
import { NumberSet } from '../guide/edges.ts';
import type { Descriptions } from '../language/types.ts';
import { Choice } from '../program/generate.ts';
import type { Program } from '../program/program.ts';
import { Neighbours } from '../program/relations.ts';
import { parseProgram } from '../program/text.ts';
import { Shares, type Yields } from './shares.ts';

/** A program that is kept, as batches report it and epochs record it. */
export interface Entry {
  readonly text: string;
  /** Number of the execution that found it, from 1 on. */
  readonly execution: number;
}

/** With all that it covers. */
export interface Covering extends Entry {
  readonly elements: readonly number[];
}

export interface Crash {
  readonly title: string;
  /** The program, with as few calls as show the title. */
  readonly text: string;
  /** Number of the execution that found it. */
  readonly execution: number;
}

/** All that an epoch has changed. */
export interface EpochResult {
  readonly epoch: number;
  readonly entries: readonly Covering[];
  readonly crashes: readonly Crash[];
  /** Historical bugs that were reached or triggered for the first time. */
  readonly bugs: readonly BugFind[];
  /** New words of the dictionary. */
  readonly words: readonly string[];
  /** Entries that were changed step by step, and the values that were tried. */
  readonly looked: readonly number[];
  readonly steps: readonly string[];
  readonly yields: Yields;
  /** Instructions of all executions. */
  readonly units: number;
  /** Executions beyond the epoch's own: those that make reproducers of crashes smaller. */
  readonly more: number;
}

/** A program of the corpus. */
export interface Kept {
  readonly program: Program;
  readonly text: string;
  readonly execution: number;
}

const DICTIONARY_MAX = 4096;

export const bugKey = ({ bug, kind }: Pick<BugFind, 'bug' | 'kind'>): string => `${kind} ${bug}`;

export class State {
  readonly config: CampaignConfig;
  readonly descriptions: Descriptions;
  readonly choice: Choice;
  readonly neighbours = new Neighbours();
  readonly shares = new Shares();
  readonly corpus: Kept[] = [];
  readonly covered = new NumberSet();
  readonly crashes = new Map<string, Crash>();
  /** By `bugKey`. */
  readonly bugs = new Map<string, BugFind>();
  readonly dictionary: bigint[] = [];
  readonly #words = new Set<bigint>();
  /** Values that were tried in some place of some call. */
  readonly stepped = new Set<string>();
  /** Entries of the corpus that nobody has changed step by step, oldest first. */
  readonly #waiting: number[] = [];
  epoch = 0;
  units = 0;
  more = 0;

  constructor(config: CampaignConfig, descriptions: Descriptions) {
    this.config = config;
    this.descriptions = descriptions;
    this.choice = new Choice(descriptions, config.calls);
  }

  /** The entries that a batch may look at: the youngest first, of every batch others. */
  agenda(batch: number): number[] {
    const { batches } = this.config;
    return this.#waiting.toReversed().filter((_, i) => i % batches === batch);
  }

  hasWord(word: bigint): boolean {
    return this.#words.has(word) || this.dictionary.length >= DICTIONARY_MAX;
  }

  /** Takes over an epoch. */
  add(result: EpochResult): void {
    const looked = new Set(result.looked);
    const left = this.#waiting.filter(index => !looked.has(index));
    this.#waiting.splice(0, this.#waiting.length, ...left);
    for (const { text, execution, elements } of result.entries) {
      this.#waiting.push(this.corpus.length);
      const name = `corpus entry ${this.corpus.length}`;
      const program = parseProgram(text, this.descriptions, name);
      this.corpus.push({ text, execution, program });
      this.neighbours.add(program);
      for (const element of elements) this.covered.add(element);
    }
    for (const crash of result.crashes) this.crashes.set(crash.title, crash);
    for (const find of result.bugs) this.bugs.set(bugKey(find), find);
    for (const step of result.steps) this.stepped.add(step);
    for (const word of result.words) {
      const value = BigInt(word);
      if (this.hasWord(value)) continue;
      this.#words.add(value);
      this.dictionary.push(value);
    }
    this.shares.add(result.yields);
    this.units += result.units;
    this.more += result.more;
    this.epoch = result.epoch + 1;
  }
}
