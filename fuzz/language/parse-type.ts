// Types in descriptions.
import type { Cursor } from './cursor.ts';
import { checkDepth } from './measure.ts';
import type { Direction, FlagSet, Resource, StringSet, Struct, Type, Width } from './types.ts';

/** Names that are declared so far. */
export interface TypeScope {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly flags: ReadonlyMap<string, FlagSet>;
  readonly strings: ReadonlyMap<string, StringSet>;
  readonly structs: ReadonlyMap<string, Struct>;
}

/** Most bytes of a buffer and most items of an array. */
const BYTES_MAX = 4096;
const DIRECTIONS: Readonly<Record<string, Direction>> = { ptr: 'in', out: 'out', inout: 'inout' };

/**
 * int8..int64 [LOW:HIGH] or = VALUE; flags8.. SET; len8.. FIELD or count8.. FIELD; RESOURCE;
 * ptr, out, inout, each with ? where NULL is usual, TYPE; string SET; bytes[LOW:HIGH];
 * array[LOW:HIGH] TYPE; vma; STRUCT
 */
export function parseType(c: Cursor, scope: TypeScope, depth = 0): Type {
  checkDepth(c, depth);
  const word = c.word();
  const direction = Object.hasOwn(DIRECTIONS, word) ? DIRECTIONS[word] : undefined;
  if (direction) {
    const optional = c.has('?');
    return { kind: 'pointer', direction, optional, to: parseType(c, scope, depth + 1) };
  }
  const sized = /^(int|flags|len|count)(8|16|32|64)$/.exec(word);
  if (sized) return parseSized(c, scope, sized[1]!, (Number(sized[2]) / 8) as Width);
  switch (word) {
    case 'vma':
      return { kind: 'vma' };
    case 'string':
      return { kind: 'string', set: named(c, scope.strings, 'set of strings') };
    case 'bytes':
      return { kind: 'bytes', ...range(c) };
    case 'array': {
      const { low, high } = range(c);
      return { kind: 'array', low, high, of: parseType(c, scope, depth + 1) };
    }
  }
  const resource = scope.resources.get(word);
  if (resource) return { kind: 'resource', resource };
  const struct = scope.structs.get(word);
  if (struct) return { kind: 'struct', struct };
  throw c.error(`no type "${word}"`);
}

function parseSized(c: Cursor, scope: TypeScope, word: string, width: Width): Type {
  if (word === 'flags') return { kind: 'flags', width, set: named(c, scope.flags, 'flags') };
  if (word === 'len' || word === 'count')
    return { kind: 'len', width, of: c.word(), unit: word === 'len' ? 'bytes' : 'items' };
  const most = (1n << BigInt(8 * width)) - 1n;
  if (c.has('=')) return { kind: 'const', width, value: c.number() & most };
  if (!c.has('[')) return { kind: 'int', width, low: 0n, high: most };
  const low = c.number();
  c.take(':');
  const high = c.number();
  c.take(']');
  if (low < 0n || low > high || high > most)
    throw c.error(`[${low}:${high}] is not a range of ${width} bytes`);
  return { kind: 'int', width, low, high };
}

function named<T>(c: Cursor, known: ReadonlyMap<string, T>, what: string): T {
  const name = c.word();
  const found = known.get(name);
  if (!found) throw c.error(`no ${what} "${name}"`);
  return found;
}

function range(c: Cursor): { low: number; high: number } {
  c.take('[');
  const low = Number(c.number());
  const high = c.has(':') ? Number(c.number()) : low;
  c.take(']');
  if (low < 0 || low > high || high > BYTES_MAX)
    throw c.error(`[${low}:${high}]: 0 to ${BYTES_MAX} are possible`);
  return { low, high };
}
