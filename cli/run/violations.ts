// Violations of the protocol rules that devices state (emulator/bus/define.ts), once per rule and
// site in the driver.
import type { Violation } from '../../emulator/index.ts';
import type { ReportLines } from './report-lines.ts';

/** Sites that are kept; a driver has fewer. */
const SITES_MAX = 256;

/** A site, as the result of the run has it. */
interface Listed {
  readonly device: string;
  readonly rule: string;
  /** Of the access; null: the device acted by itself, by DMA. */
  readonly pc: string | null;
  /** `add_up (summer.c:58) in summer_write (summer.c:80)`; '' without symbols. */
  readonly at: string;
  times: number;
}

export class Violations {
  /** By instruction, and by source line where it is known. */
  readonly #sites = new Map<string, Listed>();
  readonly #lines: ReportLines | undefined;
  readonly #print: (line: string) => void;

  constructor(lines: ReportLines | undefined, print: (line: string) => void) {
    this.#lines = lines;
    this.#print = print;
  }

  /** Counts a violation, and prints the first of each site. */
  add({ device, rule, doc, pc }: Violation): void {
    const byPc = `${device} ${rule} ${pc}`;
    let site = this.#sites.get(byPc);
    const at = site || pc === undefined ? '' : (this.#lines?.at(pc) ?? '');
    // An unrolled loop has several instructions for one line.
    const byLine = `${device} ${rule} ${at}`;
    if (!site && at !== '') site = this.#sites.get(byLine);
    if (site) {
      site.times++;
      this.#sites.set(byPc, site);
      return;
    }
    if (this.#sites.size >= SITES_MAX) return;
    const hex = pc === undefined ? null : `0x${BigInt.asUintN(64, pc).toString(16)}`;
    site = { device, rule, pc: hex, at, times: 1 };
    this.#sites.set(byPc, site);
    if (at !== '') this.#sites.set(byLine, site);
    const where = hex === null ? 'by DMA' : at === '' ? `at pc ${hex}` : `at ${at}`;
    this.#print(`PROTOCOL: ${device}: ${rule}: ${doc}, ${where}`);
  }

  list(): readonly Listed[] {
    return [...new Set(this.#sites.values())];
  }
}
