// The ladder of snapshots under a timeline: rungs at multiples of a spacing, which doubles when
// their pages and the blocks of their disks take more memory than they may. So any place of the run
// is at most one spacing of re-execution above a rung, and the memory is bounded whatever the
// length of the run.

import type { Snapshot } from '../../machine/snapshot.ts';

const PAGE = 4096;

export class Ladder {
  readonly #maxBytes: number;
  /** In the order of their places; the first is never dropped. */
  #rungs: Snapshot[] = [];
  #bytes = 0;
  #spacing: number;

  /** `maxBytes`: of the memory of all rungs; `spacing`: units between two of them at first. */
  constructor(maxBytes: number, spacing: number) {
    this.#maxBytes = maxBytes;
    this.#spacing = spacing;
  }

  get rungs(): readonly Snapshot[] {
    return this.#rungs;
  }

  /** Bytes of the pages and blocks of all rungs; those that several share count once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The first place behind `unit` that wants a rung. */
  next(unit: number): number {
    return (Math.floor(unit / this.#spacing) + 1) * this.#spacing;
  }

  /** Is a rung wanted at `unit`? */
  wants(unit: number): boolean {
    if (this.#rungs.length === 0) return true;
    return unit % this.#spacing === 0 && this.below(unit).rest.spent !== unit;
  }

  /** The highest rung that is not above `unit`. */
  below(unit: number): Snapshot {
    return this.#rungs.findLast(rung => rung.rest.spent <= unit) ?? this.#rungs[0]!;
  }

  add(rung: Snapshot): void {
    const at = this.#rungs.findIndex(({ rest }) => rest.spent > rung.rest.spent);
    const before = this.#rungs.at(at < 0 ? -1 : at - 1);
    if (at < 0) this.#rungs.push(rung);
    else this.#rungs.splice(at, 0, rung);
    for (const [page, bytes] of rung.pages) if (before?.pages.get(page) !== bytes) this.#bytes += PAGE;
    const blocks = new Set(before && blocksOf(before));
    for (const block of blocksOf(rung)) if (!blocks.has(block)) this.#bytes += block.length;
    while (this.#bytes > this.#maxBytes && this.#rungs.length > 2) this.#thin();
  }

  #thin(): void {
    this.#spacing *= 2;
    this.#rungs = this.#rungs.filter(({ rest }, i) => i === 0 || rest.spent % this.#spacing === 0);
    const pages = new Set(this.#rungs.flatMap(rung => [...rung.pages.values()]));
    const blocks = new Set(this.#rungs.flatMap(blocksOf));
    this.#bytes = PAGE * pages.size;
    for (const { length } of blocks) this.#bytes += length;
  }
}

/** The blocks of disks that the guest has written; snapshots share those that did not change. */
function blocksOf({ rest }: Snapshot): Uint8Array[] {
  const found: Uint8Array[] = [];
  const look = (state: unknown): void => {
    if (state instanceof Uint8Array) found.push(state);
    else if (typeof state === 'object' && state !== null) for (const part of Object.values(state)) look(part);
  };
  look(rest.devices);
  return found;
}
