/**
 * Coverage of parts of a trace: one test, the threads' own code, or the remote sections of one
 * handle. Each part is judged by itself, with the same proofs as the whole, so a line is never
 * drawn as not run because only its hook is missing.
 */
import { Coverage } from '../model/coverage.ts';
import type { ProgramFile } from '../model/program.ts';
import { filterTrace } from '../trace/ops.ts';
import type { Source, Trace } from '../trace/trace.ts';
import { type GroupTotals, type PageGroup, STATE_LETTERS } from './page.ts';

/**
 * Work that all groups may cost together: records filtered; sources chosen, and lines judged, at 64
 * records each.
 */
const GROUP_WORK = 100_000_000;
const LINE_WORK = 64;
const SOURCE_WORK = 64;

/** The records of a group. */
export type Name = Pick<PageGroup, 'kind' | 'name'>;

export interface Group extends Name {
  coverage: Coverage;
}

export interface Groups {
  groups: Group[];
  ungrouped: number;
}

export const contextOf = ({ context, handle }: Source): string =>
  context === 'task' ? 'task' : `0x${handle.toString(16)}`;

/** Tests and contexts of a trace; a single test or context is the whole trace and no group. */
function candidates(trace: Trace): Name[] {
  const kinds: [PageGroup['kind'], string[]][] = [
    ['test', trace.tests],
    ['context', [...new Set(trace.sources.map(contextOf))]],
  ];
  return kinds.flatMap(([kind, names]) => (names.length > 1 ? names.map(name => ({ kind, name })) : []));
}

export const belongs = (source: Source, { kind, name }: Name): boolean =>
  (kind === 'test' ? source.test : contextOf(source)) === name;

export function groupsOf({ trace, program }: Coverage): Groups {
  const all = candidates(trace);
  const lines = program.files.reduce((sum, file) => sum + file.lines.size, 0);
  const work = trace.count + SOURCE_WORK * trace.sourceCount + LINE_WORK * lines + 1;
  const most = Math.floor(GROUP_WORK / work);
  const groups = all.slice(0, most).map(group => {
    const part = filterTrace(trace, { source: source => belongs(source, group) });
    return { ...group, coverage: new Coverage(part, program) };
  });
  return { groups, ungrouped: all.length - groups.length };
}

const LETTER = { covered: 'c', partly: 'p', uncovered: 'u', unknown: 'x' } as const;

/**
 * States of a file's lines in order of line, as runs: `c12u3` is twelve covered lines and three
 * that did not run.
 */
export function runsOfStates(coverage: Coverage, file: ProgramFile): string {
  let out = '';
  let last = '';
  let length = 0;
  for (const [, code] of [...file.lines].sort(([a], [b]) => a - b)) {
    const letter = LETTER[coverage.line(code).state];
    if (letter === last) length++;
    else {
      if (length > 0) out += last + length;
      last = letter;
      length = 1;
    }
  }
  return length > 0 ? out + last + length : out;
}

/** Totals of a group in a file; undefined where nothing of it ran. */
export function groupTotals(group: number, coverage: Coverage, file: ProgramFile): GroupTotals | undefined {
  const { lines, functions, points } = coverage.fileTotals(file);
  if (lines.covered + points.covered + functions.covered + lines.unknown + functions.unknown === 0)
    return undefined;
  return [
    ...[group, lines.covered, lines.partly, lines.total, functions.covered, functions.total],
    ...[points.covered, lines.unknown, functions.unknown],
  ] as GroupTotals;
}

export const stateNumber = (state: keyof typeof LETTER): 0 | 1 | 2 | 3 =>
  STATE_LETTERS.indexOf(LETTER[state]) as 0 | 1 | 2 | 3;
