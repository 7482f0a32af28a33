/** The places of an image that a selection has, and the records of a trace at them. */
import { addrOf, CoverageError, pcOf } from '../base/bytes.ts';
import { Symbolizer } from '../dwarf/symbolize.ts';
import { CallSites } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import { filterTrace } from '../trace/ops.ts';
import { KIND_EDGE, type RecordKind, type Trace } from '../trace/trace.ts';
import type { KeepPoint } from './keep.ts';

export class SelectedPoints {
  readonly #sites: CallSites;
  readonly #symbolizer: Symbolizer;
  readonly #keep: KeepPoint;

  constructor(elf: Elf, keep: KeepPoint) {
    this.#sites = new CallSites(elf);
    this.#symbolizer = new Symbolizer(elf);
    this.#keep = keep;
  }

  /** True if the image has no place with a hook that is selected. */
  get isEmpty(): boolean {
    return !this.#sites.ret.some(ret => this.has('pc', pcOf(ret)));
  }

  /** False for an edge, whose value is no address. Errors: CoverageError for other addresses. */
  has(kind: RecordKind, pc: bigint): boolean {
    if (kind === 'edge') return false;
    const site = this.#sites.find(addrOf(pc));
    if (site < 0) throw new CoverageError(`PC ${this.#sites.explainMissing(addrOf(pc))}`);
    const call = this.#sites.call[site]!;
    return this.#keep({ call, frames: this.#symbolizer.frames(call) });
  }

  /**
   * The selected records. Errors: CoverageError for a trace of edges only, from which nothing can
   * be selected by place.
   */
  of(trace: Trace): Trace {
    if (trace.records.length > 0 && trace.countOf(KIND_EDGE) === trace.records.length)
      throw new CoverageError('the trace holds only edge records, which have no place to select them by');
    return filterTrace(trace, { point: (kind, pc) => this.has(kind, pc) });
  }
}
