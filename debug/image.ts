// An executable with its debug information: statements, functions, variables, call frames.
import {
  type Addr,
  addrOf,
  CallFrames,
  CoverageError,
  Elf,
  Entries,
  pcOf,
  type Scope,
  Symbolizer,
  Variables,
} from '../coverage/index.ts';
import { type Interval, Lines, type Statement } from './lines.ts';
import { isInLoop, isStraight, loopsIn } from './loops.ts';

const PROGRAM = 'program';
export const KERNEL = 'kernel';

export class Image {
  readonly name: string;
  readonly elf: Elf;
  readonly symbolizer: Symbolizer;
  readonly variables: Variables;
  readonly frames: CallFrames;
  readonly #code: readonly { readonly low: Addr; readonly high: Addr }[];
  #lines: Lines | undefined;

  /** Errors: CoverageError when the bytes are no ELF file, or damaged. */
  constructor(bytes: Uint8Array, name: string) {
    this.name = name;
    this.elf = new Elf(bytes, name);
    this.symbolizer = new Symbolizer(this.elf);
    this.variables = new Variables(new Entries(this.symbolizer.dwarf));
    this.frames = new CallFrames(this.elf);
    this.#code = this.elf.executableSections().map(({ addr, size }) => ({ low: addr, high: addr + size }));
  }

  hasCode(pc: bigint): boolean {
    const at = addrOf(pc);
    return this.#code.some(({ low, high }) => at >= low && at < high);
  }

  get lines(): Lines {
    return (this.#lines ??= new Lines(this.symbolizer, pc => this.hasCode(pc)));
  }

  /** The first instruction of each statement. */
  get statements(): ReadonlyMap<bigint, Statement> {
    return this.lines.statements;
  }

  /** Scopes around an instruction, innermost first: calls that were inlined, then the function. */
  scopesAt(pc: bigint): Scope[] {
    const { dwarf } = this.symbolizer;
    const unit = dwarf.unitAt(addrOf(pc));
    return unit ? dwarf.scopesAt(unit, addrOf(pc)) : [];
  }

  /** The intervals of the function around an instruction. */
  functionAt(pc: bigint): Interval[] {
    const scope = this.scopesAt(pc).at(-1);
    if (scope) return intervalsOf(scope);
    const symbol = this.elf.symbols.at(addrOf(pc));
    return symbol ? [{ low: pcOf(symbol.addr), high: pcOf(symbol.addr + Math.max(symbol.size, 2)) }] : [];
  }

  /** Statements of the function around an instruction: has it any? */
  hasLines(pc: bigint): boolean {
    return this.functionAt(pc).some(interval => this.lines.within(interval, 1).length > 0);
  }

  /**
   * Is this the first instruction of a function? Then the one behind its prologue. Undefined also
   * where the compiler has moved that one into a loop, which comes to it again and again, or behind
   * a branch, so that some calls do not come to it.
   */
  behindPrologue(pc: bigint): bigint | undefined {
    const scope = this.scopesAt(pc).at(-1);
    if (!scope || pcOf(scope.ranges[0]!) !== pc) return undefined;
    const intervals = intervalsOf(scope);
    const { high } = intervals[0]!;
    // A prologue ends in the midst of a line where the function is one, or is empty.
    const behind =
      this.lines.prologueEnd({ low: pc, high }) ?? this.lines.within({ low: pc + 1n, high }, 1)[0];
    if (behind === undefined || behind === pc || !isStraight(this.elf, { low: pc, high: behind }))
      return undefined;
    // A jump to the first instruction is a call of the function by itself.
    const loops = loopsIn(this.elf, intervals).filter(({ first }) => first !== pc);
    return isInLoop(loops, behind) ? undefined : behind;
  }

  /** Is it the first instruction of an inlined function that begins with a loop of its own? */
  isInlinedLoop(pc: bigint): boolean {
    return this.scopesAt(pc).some(
      scope =>
        scope.isInlined &&
        pcOf(scope.ranges[0]!) === pc &&
        isInLoop(loopsIn(this.elf, intervalsOf(scope)), pc),
    );
  }

  /**
   * Is the frame of the function around an instruction still to be made? Until the prologue_end of
   * the line table (DWARF 5, 6.2.2) its registers do not point at it, and parameters are not in it.
   */
  isInPrologue(pc: bigint): boolean {
    const scope = this.scopesAt(pc).at(-1);
    if (!scope) return false;
    const [interval] = intervalsOf(scope) as [Interval];
    const end = this.lines.prologueEnd(interval);
    return end !== undefined && pc < end;
  }

  /**
   * Instructions to stop at for a line, or the next one with code; of a line that begins a
   * function, those behind the prologue.
   */
  atLine(files: readonly string[], line: number): bigint[] {
    return this.lines.at(files, line).map(pc => this.behindPrologue(pc) ?? pc);
  }

  /**
   * Which of the frames at an instruction a breakpoint means that was set to `what`, counted from
   * the innermost: behind a prologue the code may be that of a function that was inlined.
   */
  levelAt(pc: bigint, what: string): number {
    const frames = this.symbolizer.frames(addrOf(pc));
    if (frames.length < 2) return 0;
    const [, line] = /(?:^|:)(\d+)$/.exec(what) ?? [];
    const level = frames.findIndex(one =>
      line === undefined ? one.function === what : one.line === Number(line),
    );
    if (level >= 0 || line === undefined) return Math.max(0, level);
    // The line is that of the function's beginning.
    const scope = this.scopesAt(pc).at(-1);
    return scope && this.behindPrologue(pcOf(scope.ranges[0]!)) === pc ? frames.length - 1 : 0;
  }

  /**
   * Instructions to stop at for a function, FILE:LINE, or *ADDRESS; of inlined copies too. Empty:
   * there are none.
   */
  find(what: string): bigint[] {
    const [, file, line] = /^(.+):(\d+)$/.exec(what) ?? [];
    if (line !== undefined) return this.atLine(this.lines.filesOf(file!), Number(line));
    const { dwarf } = this.symbolizer;
    const found: bigint[] = [];
    const visit = (scope: Scope): void => {
      const low = pcOf(scope.ranges[0]!);
      // The linker may have dropped the code.
      if (this.hasCode(low) && dwarf.functionName(scope.offset).name === what) {
        found.push(scope.isInlined ? low : (this.behindPrologue(low) ?? low));
      }
      for (const child of scope.children) visit(child);
    };
    if (!this.#functionNames.has(what)) {
      const { symbols } = this.elf;
      const [symbol] = symbols.named(what);
      return symbol && this.hasCode(pcOf(symbol.addr)) ? [pcOf(symbol.addr)] : [];
    }
    for (const unit of dwarf.units) for (const scope of dwarf.functions(unit)) visit(scope);
    return found;
  }

  #names: Set<string> | undefined;

  /** Of functions with debug information, inlined ones too. */
  get #functionNames(): Set<string> {
    if (this.#names) return this.#names;
    const names = new Set<string>();
    const { dwarf } = this.symbolizer;
    const visit = (scope: Scope): void => {
      names.add(dwarf.functionName(scope.offset).name);
      for (const child of scope.children) visit(child);
    };
    for (const unit of dwarf.units) for (const scope of dwarf.functions(unit)) visit(scope);
    this.#names = names;
    return names;
  }

  get functionNames(): Iterable<string> {
    return this.#functionNames;
  }
}

export const intervalsOf = ({ ranges }: Scope): Interval[] => {
  const intervals: Interval[] = [];
  for (let i = 0; i < ranges.length; i += 2)
    intervals.push({ low: pcOf(ranges[i]!), high: pcOf(ranges[i + 1]!) });
  return intervals;
};

/** Undefined when the bytes are no ELF file that can be read. */
export function imageOf(bytes: Uint8Array, name: string): Image | undefined {
  try {
    return new Image(bytes, name);
  } catch (error) {
    if (error instanceof CoverageError) return undefined;
    throw error;
  }
}

/** A file of a cpio archive in the "newc" format. */
export function fileOfCpio(bytes: Uint8Array, wanted: string): Uint8Array | undefined {
  const text = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  const pad = (at: number): number => (at + 3) & ~3;
  for (let at = 0; at + 110 <= bytes.length && text(at, 6) === '070701'; ) {
    const size = Number.parseInt(text(at + 54, 8), 16);
    const nameSize = Number.parseInt(text(at + 94, 8), 16);
    if (!(size >= 0 && nameSize >= 0 && nameSize < 4096)) return undefined;
    const [name = ''] = text(at + 110, nameSize).split('\0');
    const data = pad(at + 110 + nameSize);
    if (name.replace(/^\/+/, '') === wanted) return bytes.subarray(data, data + size);
    at = pad(data + size);
  }
  return undefined;
}

/**
 * The executables of a recorded run, in the order in which names are looked up: the program of this
 * name, if there is one, and the kernel. `images`: by the names of a capsule's parts.
 */
export function executablesOf(images: ReadonlyMap<string, Uint8Array>, program?: string): Image[] {
  const initrd = images.get('initrd.bin');
  const file = program !== undefined && initrd ? fileOfCpio(initrd, `bin/${program}`) : undefined;
  const kernel = images.get('kernel.bin');
  return [file && imageOf(file, PROGRAM), kernel && imageOf(kernel, KERNEL)].filter(
    image => image !== undefined,
  );
}

/** The program among them; undefined: there is none, or it is no executable. */
export const programOf = (images: readonly Image[]): Image | undefined =>
  images.find(({ name }) => name === PROGRAM);

/** The program's first instruction. */
export function entryOf(images: readonly Image[]): bigint | undefined {
  const entry = programOf(images)?.elf.entry;
  return entry === undefined ? undefined : BigInt(entry);
}
