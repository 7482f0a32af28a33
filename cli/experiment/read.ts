// The file of an experiment: YAML, checked; what is wrong is one line with the file's name and the
// place in it.
import { dirname } from 'node:path';
import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { type ExperimentFile, fuzzFile, programFile } from '../../experiment/schema.ts';
import { readInput } from '../../host/input.ts';
import { UserError } from '../io/fail.ts';

/** Of the file. */
const BYTES_MAX = 1 << 20;
const ALIASES_MAX = 100;

type Path = readonly PropertyKey[];
type Located = (path: Path) => string;
type Document = ReturnType<typeof parseDocument>;

export interface ReadExperiment {
  readonly file: ExperimentFile;
  readonly text: string;
  /** Folder to which its paths are relative. */
  readonly folder: string;
  /** "lost.yaml:7:3", of the value at a path. */
  readonly at: Located;
}

/**
 * The key at `path` where the last one names a pair of a map, else the value, else what holds it.
 */
function nodeAt(document: Document, path: Path): Node | undefined {
  for (let length = path.length; length > 0; length--) {
    const holder = document.getIn(path.slice(0, length - 1), true);
    if (isMap(holder)) {
      const pair = holder.items.find(({ key }) => isScalar(key) && key.value === path[length - 1]);
      if (pair && isPair(pair)) return pair.key as Node;
    }
    const node = document.getIn(path.slice(0, length), true);
    if (node !== undefined) return node as Node;
  }
  return document.contents ?? undefined;
}

/** The first issue, the innermost where a value has several shapes, with the path to it. */
function issueOf(issue: Issue): { path: Path; message: string } {
  const inner = issue.errors?.flat().find(({ code }) => code !== 'invalid_type');
  if (issue.code === 'invalid_union' && inner)
    return { ...issueOf(inner), path: [...issue.path, ...inner.path] };
  if (issue.code !== 'unrecognized_keys') return { path: issue.path, message: issue.message };
  const [key = ''] = issue.keys ?? [];
  return { path: [...issue.path, key], message: `there is no such key; docs/research.md lists all` };
}

interface Issue {
  readonly code?: string;
  readonly path: PropertyKey[];
  readonly message: string;
  readonly keys?: string[];
  readonly errors?: Issue[][];
}

function patternsOf({ bugs = {} }: ExperimentFile): [Path, string][] {
  return Object.entries(bugs).flatMap(([name, bug]) =>
    (['console', 'report'] as const).flatMap(key =>
      bug[key] === undefined ? [] : [[['bugs', name, key], bug[key]] as [Path, string]],
    ),
  );
}

/** Rules between several values. */
function checkWhole(file: ExperimentFile, fail: (path: Path, why: string) => never): void {
  const names = Object.keys(file.variants);
  if (names.length === 0) fail(['variants'], 'there is no variant; add one: plain: {}');
  if (file.baseline !== undefined && !names.includes(file.baseline))
    fail(['baseline'], `there is no variant "${file.baseline}"; there are ${names.join(', ')}`);
  if (file.trials !== undefined && file.seeds !== undefined)
    fail(['seeds'], 'trials and seeds both say how many trials there are; omit one');
  if (file.trials === undefined && file.seeds === undefined)
    fail(['name'], 'trials is missing; 20 are usual');
  const seen = new Map<bigint, number>();
  for (const [i, given] of (file.seeds ?? []).entries()) {
    const first = seen.get(BigInt(given));
    if (first !== undefined)
      fail(
        ['seeds', i],
        `seed ${given} is that of trial ${first} too: a repeated seed gives the same trial again, ` +
          'not another one; give each trial its own',
      );
    seen.set(BigInt(given), i);
  }
  if ('fuzz' in file)
    for (const [name, { report }] of Object.entries(file.bugs ?? {}))
      if (report === undefined) fail(['bugs', name], 'a campaign has titles of crashes: give report');
  if (file['stop-when-found'] && Object.keys(file.bugs ?? {}).length === 0)
    fail(['stop-when-found'], 'there are no bugs to find; add bugs, or omit it');
  for (const [path, pattern] of patternsOf(file))
    try {
      new RegExp(pattern);
    } catch (error) {
      fail(path, (error as Error).message);
    }
}

/** Errors: UserError where aliases of aliases make a small file a large value. */
function plainValue(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}`);
  }
}

/** Errors: UserError, one line with the place. */
export function parseExperiment(path: string, text: string): ReadExperiment {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true, uniqueKeys: true });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const [broken] = document.errors;
  if (broken)
    throw new UserError(
      `${place(broken.pos[0])}: ${broken.message.split('\n')[0]!.replace(/ at line .*$/, '')}`,
    );
  const at: Located = where => place(nodeAt(document, where)?.range?.[0] ?? 0);
  const value = plainValue(document, path);
  const isFuzz = typeof value === 'object' && value !== null && 'fuzz' in value;
  const parsed = (isFuzz ? fuzzFile : programFile).safeParse(value);
  if (!parsed.success) {
    const { path: where, message } = issueOf(parsed.error.issues[0] as unknown as Issue);
    throw new UserError(`${at(where)}: ${where.map(String).join('.') || 'the file'}: ${message}`);
  }
  checkWhole(parsed.data, (where, why) => {
    throw new UserError(`${at(where)}: ${where.map(String).join('.')}: ${why}`);
  });
  return { file: parsed.data, text, folder: dirname(path), at };
}

export const readExperiment = (path: string): ReadExperiment =>
  parseExperiment(path, new TextDecoder().decode(readInput(path, 'experiment', BYTES_MAX)));
