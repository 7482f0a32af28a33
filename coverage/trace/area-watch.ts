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
  next: number;
  at: number;
  words: readonly bigint[];
  reported: boolean;
}

export class AreaWatch {
  private readonly areas = new Map<string, Watched>();
  private readonly readWord: (address: number) => bigint | undefined;
  private readonly report: (finding: string) => void;
  private count = 0;

  /** `readWord` reads 8 bytes of guest memory by physical address. */
  constructor(readWord: (address: number) => bigint | undefined, report: (finding: string) => void) {
    this.readWord = readWord;
    this.report = report;
  }

  /**
   * The device has just written `words` as record `index` of the area at physical address `area`.
   */
  wrote(descriptor: number, area: number, index: number, words: readonly bigint[]): void {
    const key = `${descriptor} ${area}`;
    const at = area + 8 + 8 * words.length * index;
    const before = this.areas.get(key);
    if (!before) {
      this.areas.set(key, { next: index + 1, at, words, reported: false });
      return;
    }
    if (!before.reported && index !== 0) {
      const fault = index < before.next ? this.setBack(before, index) : this.overwritten(before);
      if (fault) {
        before.reported = true;
        if (++this.count <= MOST) this.report(`descriptor ${descriptor}: ${fault}`);
      }
    }
    before.next = index + 1;
    before.at = at;
    before.words = words;
  }

  private setBack(before: Watched, index: number): string {
    return `the count in word 0 went from ${before.next} to ${index} without a reset; later records overwrote earlier ones`;
  }

  private overwritten(before: Watched): string | undefined {
    for (const [i, wrote] of before.words.entries()) {
      const holds = this.readWord(before.at + 8 * i);
      if (holds === undefined || holds === wrote) continue;
      return `record ${before.next - 1} was changed in guest memory to 0x${holds.toString(16)}; the device wrote 0x${wrote.toString(16)}`;
    }
    return undefined;
  }
}
