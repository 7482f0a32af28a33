/**
 * Checks that the guest's buffer still holds the records that the device wrote. A program may reset
 * word 0 of its buffer to 0 at any time. But if a record changed after it was written, or the count
 * was set back to a value other than 0, the program's report of its own coverage is wrong. At each
 * new record the previous one is checked; the last record of a buffer is never checked. A count
 * that grows between two records is not a finding: remote sections append to the buffer of their
 * descriptor in the kernel.
 */

/** The maximum number of findings to report. */
const MOST = 16;

interface Watched {
  readonly descriptor: number;
  readonly area: number;
  next: number;
  /** The last record: its address, and halves of its words; `length` of them count. */
  at: number;
  readonly halves: Uint32Array;
  length: number;
  reported: boolean;
}

/**
 * `count` records of `halves` 32-bit words each, from `words[at]` on; the first is number `index`.
 */
export interface RecordRun {
  readonly area: number;
  readonly index: number;
  readonly count: number;
  readonly words: Uint32Array;
  readonly at: number;
  readonly halves: number;
}

/** Halves of the longest record. */
const HALVES_MAX = 8;

export class AreaWatch {
  private readonly areas = new Map<string, Watched>();
  private readonly readHalf: (address: number) => number | undefined;
  private readonly report: (finding: string) => void;
  private count = 0;
  private last: Watched | undefined;

  /** `readHalf` reads 4 bytes of guest memory by physical address. */
  constructor(readHalf: (address: number) => number | undefined, report: (finding: string) => void) {
    this.readHalf = readHalf;
    this.report = report;
  }

  /**
   * The device has just written a record of these halves of words, low ones first, as number
   * `index` of the area at physical address `area`. Nothing is allocated for it.
   */
  wrote(descriptor: number, area: number, index: number, halves: Uint32Array): void {
    const watched = this.watched(descriptor, area);
    if (!watched.reported && index !== 0 && watched.length > 0) {
      const fault = index < watched.next ? setBack(watched, index) : this.overwritten(watched);
      if (fault) {
        watched.reported = true;
        if (++this.count <= MOST) this.report(`descriptor ${descriptor}: ${fault}`);
      }
    }
    watched.next = index + 1;
    watched.at = area + 8 + 4 * halves.length * index;
    watched.halves.set(halves);
    watched.length = halves.length;
  }

  /**
   * The same for records one behind another, each of which found the one before it as it was
   * written, or was the first of the area.
   */
  wroteRun(descriptor: number, { area, index, count, words, at, halves }: RecordRun): void {
    const watched = this.watched(descriptor, area);
    const last = index + count - 1;
    watched.next = last + 1;
    watched.at = area + 8 + 4 * halves * last;
    for (let i = 0; i < halves; i++) watched.halves[i] = words[at + (count - 1) * halves + i]!;
    watched.length = halves;
  }

  private watched(descriptor: number, area: number): Watched {
    const { last } = this;
    if (last?.descriptor === descriptor && last.area === area) return last;
    const key = `${descriptor} ${area}`;
    let watched = this.areas.get(key);
    if (!watched) {
      const halves = new Uint32Array(HALVES_MAX);
      watched = { descriptor, area, next: 0, at: 0, halves, length: 0, reported: false };
      this.areas.set(key, watched);
    }
    this.last = watched;
    return watched;
  }

  private overwritten({ at, halves, length, next }: Watched): string | undefined {
    for (let i = 0; i < length; i++) {
      const half = this.readHalf(at + 4 * i);
      if (half === undefined || half === halves[i]) continue;
      const low = i & ~1;
      const holds = wordOf(this.readHalf(at + 4 * low)!, this.readHalf(at + 4 * low + 4)!);
      const wrote = wordOf(halves[low]!, halves[low + 1]!);
      return `record ${next - 1} was changed in guest memory to 0x${holds.toString(16)}; the device wrote 0x${wrote.toString(16)}`;
    }
    return undefined;
  }
}

const wordOf = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low);

function setBack({ next }: Watched, index: number): string {
  return `the count in word 0 went from ${next} to ${index} without a reset; later records overwrote earlier ones`;
}
