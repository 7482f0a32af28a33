// Source lines for the reports of the guest kernel, while they are printed: a line that names an
// address gets the functions, inlined ones included, with file and line. Only the printed text
// changes: the log of the run keeps the bytes that the guest sent.
import { type Addr, addrOf, cleanPath, Elf, type Frame, Symbolizer } from '../../coverage/index.ts';
import { EXACT, FRAME, SITE } from './report-patterns.ts';

/** Accessors of device registers: the line of interest is that of their caller. */
const ACCESSOR = /^mmio_(read|write)\d+$/;
const FRAMES_MAX = 8;

export class ReportLines {
  readonly #symbolizer: Symbolizer;
  readonly #elf: Elf;
  /** Start of each function, by name. */
  #functions: Map<string, Addr> | undefined;
  #exact = '';

  constructor(elf: Elf) {
    this.#elf = elf;
    this.#symbolizer = new Symbolizer(elf);
  }

  /** The text to add at the end of the line; '' for most lines. */
  behind(line: string): string {
    const exact = EXACT.exec(line)?.[1];
    if (exact !== undefined) this.#exact = exact.padStart(16, '0');
    const pc = FRAME.exec(line)?.[1];
    if (pc !== undefined) return this.#text(BigInt(`0x${pc}`), pc !== this.#exact);
    const [, name, offset] = SITE.exec(line) ?? [];
    const start = name === undefined ? undefined : this.#startOf(name);
    if (start === undefined) return '';
    return this.#text(BigInt(start) + BigInt(`0x${offset}`), !line.startsWith('bus'));
  }

  /** The place of an access to a device: `add_up (summer.c:58) in summer_write (summer.c:80)`. */
  at(pc: bigint): string {
    return this.#text(pc, false).trimStart();
  }

  /** `isReturn`: the call is in front of the address. */
  #text(pc: bigint, isReturn: boolean): string {
    const all = this.#symbolizer.frames(addrOf(BigInt.asUintN(64, isReturn ? pc - 1n : pc)));
    const known = all.filter(({ file, line }) => file !== '' && line > 0);
    const outer = known.filter((frame, i) => i === known.length - 1 || !ACCESSOR.test(frame.function));
    const place = ({ function: name, file, line }: Frame): string => `${name} (${cleanPath(file)}:${line})`;
    return outer.length === 0 ? '' : `  ${outer.slice(0, FRAMES_MAX).map(place).join(' in ')}`;
  }

  #startOf(name: string): Addr | undefined {
    if (!this.#functions) {
      this.#functions = new Map();
      const { symbols } = this.#elf;
      for (let i = 0; i < symbols.count; i++) {
        const symbol = symbols.get(i);
        if (!this.#functions.has(symbol.name)) this.#functions.set(symbol.name, symbol.addr);
      }
    }
    return this.#functions.get(name);
  }
}

/** Of a kernel image; undefined when it has no lines. */
export function reportLines(kernel: Uint8Array): ReportLines | undefined {
  try {
    return new ReportLines(new Elf(kernel, 'kernel'));
  } catch {
    return undefined;
  }
}
