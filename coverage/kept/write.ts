/** The analysis of an image as bytes, from which `KeptAnalysis` is made again. */
import type { Scope, Units } from '../dwarf/dwarf.ts';
import type { LineCode } from '../model/lines.ts';
import type { Program } from '../model/program.ts';
import { ColumnWriter } from './columns.ts';

type NumberOf = (scope: Scope) => number;

/** `program`: without a selection. */
export function writeAnalysis(program: Program): Uint8Array {
  const out = new ColumnWriter();
  writeCode(out, program);
  writePoints(out, program);
  const scopes = new Map<Scope, number>();
  const numberOf: NumberOf = scope => {
    let number = scopes.get(scope);
    if (number === undefined) scopes.set(scope, (number = scopes.size));
    return number;
  };
  writeFunctions(out, program, numberOf);
  const rows = writeFiles(out, program);
  const { groups } = program.instances;
  out.lists(
    'groups',
    groups.map(group => group.map(numberOf)),
  );
  const children: number[][] = [];
  // Those that get a number here come behind the others.
  for (const scope of scopes.keys()) children.push(scope.children.map(numberOf));
  out.lists('scope.children', children);
  writeScopes(out, program, [...scopes.keys()], rows);
  writeUnits(out, program.symbolizer.dwarf);
  return out.finish();
}

function writeScopes(
  out: ColumnWriter,
  program: Program,
  scopes: readonly Scope[],
  rows: ReadonlyMap<LineCode, number>,
): void {
  for (const name of ['offset', 'callLine', 'callColumn'] as const) {
    const column = new Float64Array(scopes.length);
    for (const [i, scope] of scopes.entries()) column[i] = scope[name];
    out.column(`scope.${name}`, column);
  }
  const keys = new Map<string, number>();
  const keyOfScope = new Uint32Array(scopes.length);
  const lines: number[][] = [];
  for (const [i, scope] of scopes.entries()) {
    const key = program.keyOf(scope);
    if (!keys.has(key)) keys.set(key, keys.size);
    keyOfScope[i] = keys.get(key)!;
    lines.push(Array.from(program.instances.linesOf(scope), code => rows.get(code)!));
  }
  out.column('scope.key', keyOfScope);
  out.lists('scope.lines', lines);
  const ranges = scopes.map(scope => scope.ranges);
  out.lists('scope.ranges', ranges, true);
}

function writeUnits(out: ColumnWriter, { units, lows, highs, owner }: Units): void {
  const numbers = new Map(units.map((unit, i) => [unit, i]));
  const owners = owner.map(unit => numbers.get(unit)!);
  out.value('units', units);
  out.column('unit.low', lows);
  out.column('unit.high', highs);
  out.column('unit.owner', Uint32Array.from(owners));
}

function writeCode(out: ColumnWriter, { sites, flow }: Program): void {
  for (const name of ['ret', 'start', 'call', 'blockLow', 'blockHigh', 'hook'] as const)
    out.column(`site.${name}`, sites[name]);
  for (const [i, { flags }] of sites.scans.entries()) out.column(`flags.${i}`, flags);
  out.column(
    'range.low',
    Float64Array.from(flow.ranges, range => range.low),
  );
  out.column(
    'range.high',
    Float64Array.from(flow.ranges, range => range.high),
  );
  out.column('range.returns', flow.returns);
  out.column('range.plain', flow.plain);
  out.column('pointers', flow.pointers);
}

function writePoints(out: ColumnWriter, program: Program): void {
  const { count } = program;
  out.value('hooks', program.hooks);
  out.column('point.site', program.points);
  out.column('point.outer', program.outerOf.slice(0, count));
  out.column('point.isEntry', program.isEntry.slice(0, count));
  out.column(
    'outer.name',
    Uint32Array.from(program.outer, ({ name }) => out.text(name)),
  );
  out.column(
    'outer.start',
    Float64Array.from(program.outer, ({ start }) => start),
  );
  const chains: number[][] = [];
  const numbers = new Map<string, number>();
  const ofPoint = new Uint32Array(count);
  for (let point = 0; point < count; point++) {
    const chain = program.chain(point).map(name => out.text(name));
    const key = chain.join();
    let number = numbers.get(key);
    if (number === undefined) numbers.set(key, (number = chains.push(chain) - 1));
    ofPoint[point] = number;
  }
  out.column('point.chain', ofPoint);
  out.lists('chains', chains);
}

function writeFunctions(out: ColumnWriter, { functions }: Program, numberOf: NumberOf): void {
  out.column(
    'function.name',
    Uint32Array.from(functions, ({ name }) => out.text(name)),
  );
  out.column(
    'function.file',
    Uint32Array.from(functions, ({ file }) => out.text(file)),
  );
  out.column(
    'function.line',
    Uint32Array.from(functions, ({ line }) => line),
  );
  for (const name of ['points', 'sites', 'entries', 'inlined'] as const)
    out.lists(
      `function.${name}`,
      functions.map(fn => fn[name]),
    );
  out.lists(
    'function.copies',
    functions.map(({ copies }) => copies.map(numberOf)),
  );
}

/** Answers with the row of each line. */
function writeFiles(out: ColumnWriter, { files, functions }: Program): ReadonlyMap<LineCode, number> {
  const numbers = new Map(functions.map((fn, i) => [fn, i]));
  out.column(
    'file.path',
    Uint32Array.from(files, ({ path }) => out.text(path)),
  );
  out.lists(
    'file.points',
    files.map(({ points }) => points),
  );
  out.lists(
    'file.functions',
    files.map(file => file.functions.map(fn => numbers.get(fn)!)),
  );
  const sorted = files.map(({ lines }) => [...lines.values()].sort((a, b) => a.line - b.line));
  out.lists(
    'file.lines',
    sorted.map(lines => lines.map(({ line }) => line)),
  );
  const lines: LineCode[] = sorted.flat();
  out.lists(
    'line.points',
    lines.map(({ points }) => points),
  );
  for (const name of ['homes', 'own', 'hooks', 'calls'] as const)
    out.lists(
      `line.${name}`,
      lines.map(line => line[name]),
      true,
    );
  return new Map(lines.map((line, row) => [line, row]));
}
