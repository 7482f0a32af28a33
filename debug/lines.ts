// The statements of an image: which instruction each one begins with, by address and by line.
import {
  cleanPath,
  pcOf,
  ROW_END_SEQUENCE,
  ROW_IS_STMT,
  ROW_PROLOGUE_END,
  type Symbolizer,
} from '../coverage/index.ts';

export interface Statement {
  readonly file: string;
  readonly line: number;
}

/** Half-open. */
export interface Interval {
  readonly low: bigint;
  readonly high: bigint;
}

/** How far below a line without code the next one with code is looked for. */
const BELOW_MAX = 20;

export class Lines {
  /** The first instruction of each statement. */
  readonly statements: ReadonlyMap<bigint, Statement>;
  readonly #sorted: BigUint64Array;
  readonly #prologueEnds: BigUint64Array;
  /** First instructions by file and line. */
  readonly #files = new Map<string, Map<number, bigint[]>>();
  /** The files of a name without folders. */
  readonly #byName = new Map<string, string[]>();

  /** `hasCode`: debug information may be of code that the linker dropped. */
  constructor({ dwarf }: Symbolizer, hasCode: (pc: bigint) => boolean) {
    const statements = new Map<bigint, Statement>();
    const prologueEnds = new Set<bigint>();
    for (const unit of dwarf.units) {
      const table = dwarf.lineTable(unit);
      if (!table) continue;
      let before = '';
      for (let i = 0; i < table.rows.count; i++) {
        const { address, line, file, flags } = table.row(i);
        const key = `${file}:${line}`;
        const isEnd = (flags & ROW_END_SEQUENCE) !== 0;
        const pc = pcOf(address);
        if (flags & ROW_PROLOGUE_END) prologueEnds.add(pc);
        if (!isEnd && flags & ROW_IS_STMT && line > 0 && key !== before && hasCode(pc))
          statements.set(pc, { file: cleanPath(table.path(file, unit.compDir)), line });
        before = isEnd ? '' : key;
      }
    }
    this.statements = statements;
    this.#sorted = BigUint64Array.from(statements.keys()).sort();
    this.#prologueEnds = BigUint64Array.from(prologueEnds).sort();
    for (const [pc, { file, line }] of statements) this.#index(pc, file, line);
  }

  #index(pc: bigint, file: string, line: number): void {
    let lines = this.#files.get(file);
    if (!lines) {
      this.#files.set(file, (lines = new Map()));
      const name = nameOf(file);
      const same = this.#byName.get(name);
      if (same) same.push(file);
      else this.#byName.set(name, [file]);
    }
    const at = lines.get(line);
    if (at) at.push(pc);
    else lines.set(line, [pc]);
  }

  /** The first prologue_end of an interval. */
  prologueEnd({ low, high }: Interval): bigint | undefined {
    const end = this.#prologueEnds[firstFrom(this.#prologueEnds, low)];
    return end !== undefined && end < high ? end : undefined;
  }

  /** The addresses of the first statements of an interval, in order. */
  within({ low, high }: Interval, most = Number.POSITIVE_INFINITY): bigint[] {
    const sorted = this.#sorted;
    const inside: bigint[] = [];
    for (let i = firstFrom(sorted, low); i < sorted.length && sorted[i]! < high && inside.length < most; i++)
      inside.push(sorted[i]!);
    return inside;
  }

  /** The files of this name, whatever their folders. */
  filesNamed(name: string): readonly string[] {
    return this.#byName.get(name) ?? [];
  }

  /** The files that a user means who writes the end of a path. */
  filesOf(path: string): readonly string[] {
    const wanted = cleanPath(path);
    return this.filesNamed(nameOf(wanted)).filter(file => file === wanted || file.endsWith(`/${wanted}`));
  }

  /** The instructions of the line in these files, or of the next line with code. */
  at(files: readonly string[], line: number): bigint[] {
    const indexes = files.map(file => this.#files.get(file));
    for (let below = 0; below < BELOW_MAX; below++) {
      const found = indexes.flatMap(lines => lines?.get(line + below) ?? []);
      if (found.length > 0) return found;
    }
    return [];
  }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The index of the first value that is not below `least`. */
function firstFrom(sorted: BigUint64Array, least: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
