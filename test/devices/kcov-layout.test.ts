// The kernel is compiled with the header; every number and structure in it must equal the device's.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as layout from '../../devices/kcov-layout.ts';

const header = readFileSync(new URL('../../kernel/abi/kcov-device.h', import.meta.url), 'utf8');

function defines(): Map<string, number> {
  const found = new Map<string, number>();
  for (const [, name, value] of header.matchAll(/^#define\s+(KCOV_\w+)\s+(0x[0-9a-f]+|\d+)/gm)) {
    found.set(name!, Number(value));
  }
  return found;
}

/** Which names of the header a group of the layout mirrors; some prefixes contain others. */
const GROUPS: Record<string, Record<string, number>> = {
  KCOV_REG_: layout.REG,
  KCOV_HOOK_: layout.HOOK,
  KCOV_CTX_: layout.CTX,
  KCOV_RECORD_: layout.RECORD,
  KCOV_CTXF_: layout.CTXF,
  KCOV_KIND_: layout.KIND,
  KCOV_SEEN_: layout.SEEN,
  KCOV_REMOTE_: layout.REMOTE,
  KCOV_LIMIT_: layout.LIMIT,
};
const SINGLES: Record<string, number> = {
  KCOV_ID_VALUE: layout.ID_VALUE,
  KCOV_AREA_WORDS_MAX: layout.AREA_WORDS_MAX,
  KCOV_CMP_WORDS: layout.CMP_WORDS,
};
/** Of the kernel alone: the device reads the count in front of the entries. */
const KERNEL_ONLY = ['KCOV_REMOTES_MAX'];

/** Offsets of the fields of a structure by their names in capitals, and its size. */
function fieldsOf(name: string): Record<string, number> {
  const [, body = ''] = new RegExp(`^struct ${name} \\{\\n([^}]*)^\\}`, 'm').exec(header) ?? [];
  const offsets: Record<string, number> = {};
  let at = 0;
  for (const [, type, field, count = '1'] of body.matchAll(/^ +(u32|u64) (\w+)(?:\[(\d+)\])?;/gm)) {
    const bytes = type === 'u32' ? 4 : 8;
    expect(at % bytes, `${name}.${field}`).toBe(0);
    if (field !== 'reserved') offsets[field!.toUpperCase()] = at;
    at += bytes * Number(count);
  }
  return { ...offsets, SIZE: at };
}

describe('layouts of the kcov device', () => {
  const found = defines();

  it.each(Object.keys(GROUPS))('%s* are the same in header and device', prefix => {
    for (const [name, value] of found) {
      if (!name.startsWith(prefix) || KERNEL_ONLY.includes(name)) continue;
      expect(GROUPS[prefix]![name.slice(prefix.length)], name).toBe(value);
    }
  });

  it('single numbers are the same, and no define is left over', () => {
    for (const [name, value] of Object.entries(SINGLES)) expect(found.get(name), name).toBe(value);
    const prefixes = [...Object.keys(GROUPS), ...KERNEL_ONLY];
    const left = [...found.keys()].filter(n => !(n in SINGLES) && !prefixes.some(p => n.startsWith(p)));
    expect(left).toEqual([]);
  });

  it('structures are the same', () => {
    const { ALIGN, ...context } = layout.CTX;
    expect(fieldsOf('kcov_context')).toEqual(context);
    expect(context.SIZE % ALIGN).toBe(0);
    const { CONTEXT: CURRENT, ...hart } = fieldsOf('kcov_hart');
    expect({ CURRENT, ...hart }).toEqual(layout.HART);
    const { NODE_HEADER: _, ...seen } = layout.SEEN;
    expect(fieldsOf('kcov_seen')).toEqual(seen);
    const {
      FREE: _free,
      REGISTERED: _registered,
      ATTACHED: _attached,
      DYING: _dying,
      ...entry
    } = layout.REMOTE;
    expect(fieldsOf('kcov_remote_entry')).toEqual(entry);
    const { COUNT, SIZE: HEADER } = fieldsOf('kcov_remotes'); // its entries are structures
    expect({ COUNT, HEADER }).toEqual(layout.REMOTES);
  });

  it('the hook table has an address for each kind, then two values', () => {
    const kinds = [...found.keys()].filter(name => name.startsWith('KCOV_HOOK_')).length;
    expect(kinds).toBe(layout.HOOK.COUNT);
    expect(layout.HOOKS).toEqual({ LIVE_OFFSET: 8 * kinds, BASE_VAR: 8 * kinds + 8, SIZE: 8 * kinds + 16 });
  });
});
