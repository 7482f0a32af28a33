// Which run of records comes behind which, for the ring of the kcov device: it compares what comes
// with what is expected, and tells only how far that went (devices/kcov-ring.ts).
import type { TraceBuilder } from '../coverage/record.ts';
import type { KcovOrigin, KcovRepeats, KcovRun } from '../emulator/index.ts';
import type { SeenCall } from './seen-calls.ts';

interface Kept {
  readonly seen: SeenCall;
  /** That of the run that was kept: another descriptor may leave the same records. */
  readonly origin: KcovOrigin;
}

export class ExpectedCalls {
  readonly #builder: TraceBuilder;
  #repeats: KcovRepeats | undefined;
  /** By number. */
  readonly #kept = new Map<number, Kept>();
  readonly #numbers = new Map<SeenCall, number>();

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
  }

  use(repeats: KcovRepeats): void {
    this.settle();
    this.#forget();
    this.#repeats = repeats;
  }

  /**
   * The last run is that of `seen`, behind that of `last`: one of the same call, or the end of a
   * call with a source. So it is expected there again.
   */
  came(last: SeenCall | undefined, seen: SeenCall, origin: KcovOrigin, run: KcovRun): void {
    const repeats = this.#repeats;
    if (!repeats) return;
    const number = this.#numberOf(repeats, seen, origin, run);
    const from = last && this.#numbers.get(last);
    // `followed` names the last run alone, so what a descriptor's buffer holds would be missed.
    if (number > 0 && from !== undefined && this.#kept.get(from)!.origin.descriptor === origin.descriptor)
      repeats.expect(from, number);
    repeats.at = number;
  }

  /** The last run is none that is known. */
  lost(): void {
    if (this.#repeats) this.#repeats.at = 0;
  }

  /** The last of the runs that came as expected, and how many calls began among them. */
  take(): Kept & { readonly begun: number } {
    const repeats = this.#repeats!;
    return { ...this.#kept.get(repeats.at)!, begun: repeats.takeBegun() };
  }

  /** Tells the builder of the calls that ended as expected. */
  settle(): void {
    for (const [number, { seen }] of this.#kept) {
      const ended = this.#repeats!.takeEnded(number);
      if (ended > 0) this.#builder.alike(seen.source, ended);
    }
  }

  /** The number of the run, which is kept unless it is; 0: it cannot be. */
  #numberOf(repeats: KcovRepeats, seen: SeenCall, origin: KcovOrigin, run: KcovRun): number {
    const known = this.#numbers.get(seen);
    if (known !== undefined && this.#kept.get(known)!.origin.descriptor === origin.descriptor) return known;
    let number = repeats.keep(run, !seen.before);
    if (number === 0) {
      this.settle();
      this.#forget();
      repeats.clear();
      number = repeats.keep(run, !seen.before);
    }
    if (number === 0) return 0;
    this.#kept.set(number, { seen, origin });
    this.#numbers.set(seen, number);
    return number;
  }

  #forget(): void {
    this.#kept.clear();
    this.#numbers.clear();
  }
}
