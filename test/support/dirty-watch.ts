// The pages that a machine says were stored to, against a comparison of all of its RAM.

import { type Machine, RAM_BASE } from '../../emulator/index.ts';
import { Random } from './random.ts';

const PAGE = 4096;

/** Watches a machine: `look` between the pieces of a run, some of which become checkpoints. */
export class DirtyWatch {
  readonly #oneIn: number;
  readonly #random: Random;
  #known: Uint8Array | undefined;
  readonly missed: string[] = [];
  checkpoints = 0;
  listed = 0;

  /** One look of `oneIn` compares. */
  constructor(seed: number, oneIn: number) {
    this.#oneIn = oneIn;
    this.#random = new Random(seed);
  }

  look(machine: Machine): void {
    const { ram, memoryHash } = machine;
    if (this.#known && !this.#random.oneIn(this.#oneIn)) return;
    memoryHash.track();
    if (this.#known) this.#compare(machine, this.#known);
    this.#known = ram.data.slice();
    const [low, high] = memoryHash.sum;
    if (this.#random.oneIn(16)) {
      let sum = 0n;
      for (let page = 0; page < ram.bytes / PAGE; page++) sum += memoryHash.pageHash(page);
      const now = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
      if (now !== BigInt.asUintN(64, sum)) this.missed.push(`the hash at unit ${machine.spent}`);
    }
    this.checkpoints++;
  }

  #compare({ ram, memoryHash, spent }: Machine, known: Uint8Array): void {
    const listed = new Set(memoryHash.dirtyPages);
    this.listed += listed.size;
    for (let page = 0; page < ram.bytes / PAGE; page++) {
      const [from, to] = [page * PAGE, (page + 1) * PAGE];
      if (listed.has(page) || Buffer.compare(ram.data.subarray(from, to), known.subarray(from, to)) === 0)
        continue;
      this.missed.push(`page ${(RAM_BASE + from).toString(16)} at unit ${spent}`);
    }
  }
}
