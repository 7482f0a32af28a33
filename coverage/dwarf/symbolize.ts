/**
 * From an address to functions and source lines, inlined calls included, innermost first, like
 * `llvm-symbolizer --inlines`.
 *
 * kcov records *return* addresses. `Symbolizer.frames` takes any address; for a recorded PC ask for
 * the call instruction (`callsites.ts`), because the line of the return address may belong to the
 * next statement.
 */
import type { Addr } from '../base/bytes.ts';
import { type Elf, STT_FUNC } from '../elf/elf.ts';
import { Dwarf, type Scope, type Units } from './dwarf.ts';

export interface Frame {
  function: string;
  /** As the compiler wrote it; '' where unknown. */
  file: string;
  line: number;
  column: number;
  /** Where the function is declared; line 0 where unknown. */
  declFile: string;
  declLine: number;
  /** True for every frame that was inlined into the next one. */
  inline: boolean;
}

/** The frames of a scope and those around it; of the first one without the place. */
interface Chain {
  readonly frames: readonly Frame[];
  /** The symbol that may name the outermost one; -1: none. */
  readonly symbol: number;
}

export class Symbolizer {
  readonly elf: Elf;
  readonly dwarf: Dwarf;
  private readonly chains = new Map<Scope, Chain>();

  /**
   * Name the outermost frame after any symbol, as llvm-symbolizer does, not only after function
   * symbols.
   */
  private readonly symbolsWin: boolean;

  /** `units`: read earlier. */
  constructor(elf: Elf, options: { symbolsWin?: boolean; units?: Units | undefined } = {}) {
    this.elf = elf;
    this.symbolsWin = options.symbolsWin ?? false;
    this.dwarf = new Dwarf(elf, options.units);
  }

  /**
   * At least one frame; an unknown address gives one frame of empty fields. The frames of other
   * addresses may be the same objects.
   */
  frames(addr: Addr): Frame[] {
    const { dwarf } = this;
    const { symbols } = this.elf;
    const symbol = symbols.indexAt(addr);
    const unit = dwarf.unitAt(addr);
    const table = unit && dwarf.lineTable(unit);
    if (!unit) return [this.bare(symbol)];
    const row = table ? table.find(addr) : -1;
    const file = row < 0 ? '' : table!.path(table!.rows.file[row]!, unit.compDir);
    const line = row < 0 ? 0 : table!.rows.line[row]!;
    const column = row < 0 ? 0 : table!.rows.column[row]!;
    const { frames } = this.chainOf(dwarf.scopesAt(unit, addr), symbol);
    const { function: name, declFile, declLine, inline } = frames[0]!;
    const first = { function: name, file, line, column, declFile, declLine, inline };
    if (frames.length === 1 && symbol >= 0) first.file ||= symbols.file(symbol);
    return [first, ...frames.slice(1)];
  }

  /** `scopes`: innermost first. */
  private chainOf(scopes: readonly Scope[], symbol: number): Chain {
    const [innermost] = scopes;
    const known = innermost && this.chains.get(innermost);
    if (known?.symbol === symbol) return known;
    const { dwarf } = this;
    const { symbols } = this.elf;
    const frames = scopes.map((scope, i) => {
      const { name, linkageName, declFile, declLine } = dwarf.functionName(scope.offset);
      const called = scopes[i - 1];
      return {
        function: linkageName || name,
        file: (called && dwarf.lineTable(called.unit)?.path(called.callFile, called.unit.compDir)) ?? '',
        line: called?.callLine ?? 0,
        column: called?.callColumn ?? 0,
        ...{ declFile, declLine, inline: scope.isInlined },
      };
    });
    if (frames.length === 0) frames.push(frame(''));
    const outermost = frames[frames.length - 1]!;
    if (symbol >= 0) {
      // Labels of hand-written or unlinked code (`.Lpcrel_hi7`) must not hide the function that
      // DWARF names.
      if (this.symbolsWin || symbols.type[symbol] === STT_FUNC || outermost.function === '')
        outermost.function = symbols.name(symbol);
      if (frames.length > 1) outermost.file ||= symbols.file(symbol);
    }
    const chain = { frames, symbol };
    if (innermost) this.chains.set(innermost, chain);
    return chain;
  }

  /** The frame from the symbol table alone. */
  private bare(symbol: number): Frame {
    const { symbols } = this.elf;
    return symbol < 0 ? frame('') : { ...frame(symbols.name(symbol)), file: symbols.file(symbol) };
  }
}

function frame(name: string): Frame {
  return { function: name, file: '', line: 0, column: 0, declFile: '', declLine: 0, inline: false };
}
