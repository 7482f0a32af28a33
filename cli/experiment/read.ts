// The file of an experiment: YAML, checked; what is wrong is one line with the file's name and the
// place in it.
import { dirname } from 'node:path';
import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { type ExperimentFile, fuzzFile, programFile } from '../../experiment/schema.ts';
import { readText } from '../../host/input.ts';
import { UserError } from '../io/fail.ts';

/** Of the file. */
const BYTES_MAX = 1 << 20;
const ALIASES_MAX = 100;
/** No bytes of UTF-8 stand for half of a surrogate pair, and a word of a program ends at NUL. */
const NO_WORD = /[\0\p{Surrogate}]/u;
const NO_TEXT = /\p{Surrogate}/u;

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
  if (issue.code === 'invalid_key' && issue.issues?.[0])
    return { path: issue.path, message: issue.issues[0].message };
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return { path: issue.path, message: 'it is missing' };
  if (issue.code === 'invalid_type' && issue.path.length === 0)
    return { path: [], message: 'it is no list of keys and values; docs/research.md has an example' };
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
  readonly issues?: Issue[];
}

function patternsOf({ bugs = {} }: ExperimentFile): [Path, string][] {
  return Object.entries(bugs).flatMap(([name, bug]) =>
    (['console', 'report'] as const).flatMap(key =>
      bug[key] === undefined ? [] : [[['bugs', name, key], bug[key]] as [Path, string]],
    ),
  );
}

/** The path of the first string that cannot be what it stands for. */
function badText(value: unknown, path: Path = []): Path | undefined {
  if (typeof value === 'string')
    return (path.at(-1) === 'input' ? NO_TEXT : NO_WORD).test(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const bad = badText(item, [...path, Array.isArray(value) ? Number(key) : key]);
    if (bad) return bad;
  }
  return undefined;
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
  const bad = badText(file);
  if (bad) fail(bad, 'it has a NUL or half of a surrogate pair; no program can get that');
  for (const [name, { report, canary }] of Object.entries(file.bugs ?? {}))
    if ('fuzz' in file && report === undefined && canary === undefined)
      fail(['bugs', name], 'a campaign has titles of crashes: give report or canary');
    else if (!('fuzz' in file) && canary !== undefined)
      fail(['bugs', name, 'canary'], 'a program shows a bug by console, report or status: give one of them');
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
    const { message } = error as Error;
    throw new UserError(
      `${path}: ${/alias count/.test(message) ? 'its aliases make it too large' : message}`,
    );
  }
}

const WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; an experiment is a file of its own',
};

/** Errors: UserError for a key that is left out of a value, because objects have it already. */
function refuseProto(document: Document, place: (offset: number) => string): void {
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.value === '__proto__')
        throw new UserError(
          `${place(key.range?.[0] ?? 0)}: __proto__: it cannot be a name; choose another one`,
        );
    },
  });
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
  if (broken) {
    const message = WORDS[broken.code] ?? broken.message.split('\n')[0]!.replace(/ at line .*$/, '');
    throw new UserError(`${place(broken.pos[0])}: ${message}`);
  }
  refuseProto(document, place);
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

/** Errors: UserError, one line with the file. */
export function readExperiment(path: string): ReadExperiment {
  return parseExperiment(path, readText(path, 'experiment', BYTES_MAX));
}
