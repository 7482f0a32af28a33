// The knowledge of a campaign between two epochs. Every worker has the same.

import type { CampaignConfig } from '../../run/fuzz/schema.ts';
import { NumberSet } from '../guide/edges.ts';
import type { Descriptions } from '../language/types.ts';
import { Choice } from '../program/generate.ts';
import type { Program } from '../program/program.ts';
import { parseProgram } from '../program/text.ts';

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
  /** New words of the dictionary. */
  readonly words: readonly string[];
  /** Instructions of all executions. */
  readonly units: number;
  /** Executions beyond the epoch's own: those that make reproducers of crashes smaller. */
  readonly more: number;
}

const DICTIONARY_MAX = 4096;

export class State {
  readonly config: CampaignConfig;
  readonly descriptions: Descriptions;
  readonly choice: Choice;
  readonly corpus: { readonly program: Program; readonly text: string; readonly execution: number }[] = [];
  readonly covered = new NumberSet();
  readonly crashes = new Map<string, Crash>();
  readonly dictionary: bigint[] = [];
  readonly #words = new Set<bigint>();
  /** Entries of the corpus that no batch has looked at, oldest first. */
  readonly waiting: number[] = [];
  epoch = 0;
  units = 0;
  more = 0;

  constructor(config: CampaignConfig, descriptions: Descriptions) {
    this.config = config;
    this.descriptions = descriptions;
    this.choice = new Choice(descriptions, config.calls);
  }

  /** The entries that the batches of the next epoch look at, by number of the batch. */
  get agenda(): readonly number[] {
    return this.waiting.slice(0, this.config.batches);
  }

  hasWord(word: bigint): boolean {
    return this.#words.has(word) || this.dictionary.length >= DICTIONARY_MAX;
  }

  /** Takes over an epoch. */
  add(result: EpochResult): void {
    this.waiting.splice(0, this.config.batches);
    for (const { text, execution, elements } of result.entries) {
      this.waiting.push(this.corpus.length);
      const name = `corpus entry ${this.corpus.length}`;
      this.corpus.push({ text, execution, program: parseProgram(text, this.descriptions, name) });
      for (const element of elements) this.covered.add(element);
    }
    for (const crash of result.crashes) this.crashes.set(crash.title, crash);
    for (const word of result.words) {
      const value = BigInt(word);
      if (this.hasWord(value)) continue;
      this.#words.add(value);
      this.dictionary.push(value);
    }
    this.units += result.units;
    this.more += result.more;
    this.epoch = result.epoch + 1;
  }
}
