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
import { Dwarf } from './dwarf.ts';

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

export class Symbolizer {
  readonly elf: Elf;
  readonly dwarf: Dwarf;

  /**
   * Name the outermost frame after any symbol, as llvm-symbolizer does, not only after function
   * symbols.
   */
  private readonly symbolsWin: boolean;

  constructor(elf: Elf, options: { symbolsWin?: boolean } = {}) {
    this.elf = elf;
    this.symbolsWin = options.symbolsWin ?? false;
    this.dwarf = new Dwarf(elf);
  }

  /** At least one frame; an unknown address gives one frame of empty fields. */
  frames(addr: Addr): Frame[] {
    const { dwarf } = this;
    const { symbols } = this.elf;
    const symbol = symbols.indexAt(addr);
    const unit = dwarf.unitAt(addr);
    const table = unit && dwarf.lineTable(unit);
    if (!unit) return [this.bare(symbol)];
    const row = table ? table.find(addr) : -1;
    let file = row < 0 ? '' : table!.path(table!.rows.file[row]!, unit.compDir);
    let line = row < 0 ? 0 : table!.rows.line[row]!;
    let column = row < 0 ? 0 : table!.rows.column[row]!;
    const chain = dwarf.scopesAt(unit, addr);
    const frames = chain.map(scope => {
      const { name, linkageName, declFile, declLine } = dwarf.functionName(scope.offset);
      const inline = scope.isInlined;
      return { function: linkageName || name, file: '', line: 0, column: 0, declFile, declLine, inline };
    });
    if (frames.length === 0) frames.push(frame(''));
    for (const [i, entry] of frames.entries()) {
      entry.file = file;
      entry.line = line;
      entry.column = column;
      const scope = chain[i];
      if (!scope) continue;
      file = table?.path(scope.callFile, unit.compDir) ?? '';
      line = scope.callLine;
      column = scope.callColumn;
    }
    const outermost = frames[frames.length - 1]!;
    if (symbol >= 0) {
      // Labels of hand-written or unlinked code (`.Lpcrel_hi7`) must not hide the function that
      // DWARF names.
      if (this.symbolsWin || symbols.type[symbol] === STT_FUNC || outermost.function === '') {
        outermost.function = symbols.name(symbol);
      }
      outermost.file ||= symbols.file(symbol);
    }
    return frames;
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
