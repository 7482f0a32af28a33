// Which lines of the program itself ran, and how often: its statements are visited in a second
// execution, because the counters of instructions are for the kernel.
import type { Image } from '../../debug/image.ts';
import { isKeptBy, type Timeline, trapHandlers, trapOf } from '../../emulator/index.ts';
import type { Lines } from '../protocol.ts';

/** Statements that are counted at most; a line without one by then is unknown. */
const VISITS_MAX = 300_000;

interface Tally {
  readonly lines: Map<number, number>;
}

export class ProgramLines {
  readonly #files = new Map<string, Tally>();
  #isWhole = true;

  /** `isOwn`: is the text of this file in the page? Other files are those of a library. */
  constructor(timeline: Timeline, program: Image, isOwn: (path: string) => boolean) {
    const own = new Map<bigint, { tally: Tally; line: number }>();
    for (const [pc, { file, line }] of program.statements) {
      if (!isOwn(file)) continue;
      let tally = this.#files.get(file);
      if (!tally) this.#files.set(file, (tally = { lines: new Map() }));
      tally.lines.set(line, 0);
      own.set(pc, { tally, line });
    }
    const hits = this.#count(timeline, new Set(own.keys()));
    // Of the statements of one line, the one that ran most often: they are parts of one line.
    for (const [pc, { tally, line }] of own)
      tally.lines.set(line, Math.max(tally.lines.get(line)!, hits.get(pc) ?? 0));
  }

  /** Executions of each instruction. One that traps comes again: it did not run the first time. */
  #count(timeline: Timeline, wanted: ReadonlySet<bigint>): Map<bigint, number> {
    const hits = new Map<bigint, number>();
    const last = new Map<number, { unit: number; pc: bigint }>();
    const handlers = trapHandlers(timeline.machine);
    let visits = 0;
    timeline.visit(new Set([...wanted, ...handlers]), {}, ({ unit, hart, pc }) => {
      if (handlers.has(pc)) {
        const before = last.get(hart.id);
        if (before && isKeptBy(trapOf(hart), unit, before)) hits.set(before.pc, hits.get(before.pc)! - 1);
        return false;
      }
      hits.set(pc, (hits.get(pc) ?? 0) + 1);
      last.set(hart.id, { unit, pc });
      this.#isWhole = ++visits < VISITS_MAX;
      return !this.#isWhole;
    });
    return hits;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  lines(path: string): Lines {
    const none = this.#isWhole ? 'uncovered' : 'unknown';
    return [...(this.#files.get(path)?.lines ?? [])].map(
      ([line, hits]) => [line, hits > 0 ? 'covered' : none, hits] as const,
    );
  }
}
