// Limits of what arguments consist of. Structs of structs and arrays of arrays grow as powers, and
// everything that is done to a program visits all of it.
import type { Cursor } from './cursor.ts';
import type { Field, Struct, Type } from './types.ts';

/** Most pointers, arrays and structs in one another. */
const DEPTH_MAX = 32;
/** Most numbers and bytes of an argument or a struct: those that the agent has room for. */
const PARTS_MAX = 0x2_0000;
/** A new array has at most so many items more than it must have. */
export const MORE_ITEMS = 6;

interface Measure {
  readonly depth: number;
  readonly parts: number;
}

const STRUCTS = new WeakMap<Struct, Measure>();

const all = (fields: readonly Field[]): Measure => {
  const parts = fields.map(({ type }) => measureOf(type));
  return {
    depth: parts.reduce((most, { depth }) => Math.max(most, depth), 0),
    parts: parts.reduce((sum, part) => sum + part.parts, 1),
  };
};

function measureOf(type: Type): Measure {
  switch (type.kind) {
    case 'bytes':
      return { depth: 0, parts: 1 + type.high };
    case 'pointer': {
      const { depth, parts } = measureOf(type.to);
      return { depth: depth + 1, parts: parts + 1 };
    }
    case 'array': {
      const { depth, parts } = measureOf(type.of);
      const items = Math.min(type.high, type.low + MORE_ITEMS);
      return { depth: depth + 1, parts: 1 + parts * items };
    }
    case 'struct': {
      const known = STRUCTS.get(type.struct) ?? all(type.struct.fields);
      STRUCTS.set(type.struct, known);
      return { depth: known.depth + 1, parts: known.parts };
    }
    default:
      return { depth: 0, parts: 1 };
  }
}

/** Errors: FuzzError if what was just read goes too deep. */
export function checkDepth(c: Cursor, depth: number): void {
  if (depth > DEPTH_MAX) throw c.error(`more than ${DEPTH_MAX} pointers, arrays and structs in one another`);
}

/** Errors: FuzzError for arguments or a struct that are too large. */
export function checkSize(c: Cursor, fields: readonly Field[]): void {
  const { depth, parts } = all(fields);
  checkDepth(c, depth);
  if (parts > PARTS_MAX)
    throw c.error(`up to ${parts} numbers and bytes: ${PARTS_MAX} are possible, arrays included`);
}
