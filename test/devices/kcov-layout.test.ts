// The kernel is compiled with the header; every number in it must equal the device's.

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
  KCOV_HOOKS_: layout.HOOKS,
  KCOV_HART_: layout.HART,
  KCOV_CTX_: layout.CTX,
  KCOV_RECORD_: layout.RECORD,
  KCOV_CTXF_: layout.CTXF,
  KCOV_KIND_: layout.KIND,
  KCOV_SEEN_: layout.SEEN,
  KCOV_REMOTES_: layout.REMOTES,
  KCOV_REMOTE_: layout.REMOTE,
  KCOV_ERR_: layout.ERR,
  KCOV_LIMIT_: layout.LIMIT,
};
const SINGLES: Record<string, number> = {
  KCOV_ID_VALUE: layout.ID_VALUE,
  KCOV_AREA_WORDS_MAX: layout.AREA_WORDS_MAX,
  KCOV_CMP_WORDS: layout.CMP_WORDS,
};

describe('layouts of the kcov device', () => {
  const found = defines();

  it.each(Object.keys(GROUPS))('%s* are the same in header and device', prefix => {
    const inHeader = Object.fromEntries(
      [...found]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name.slice(prefix.length), value]),
    );
    expect(inHeader).toEqual(GROUPS[prefix]);
  });

  it('single numbers are the same, and no define is left over', () => {
    for (const [name, value] of Object.entries(SINGLES)) expect(found.get(name), name).toBe(value);
    const prefixes = Object.keys(GROUPS);
    const left = [...found.keys()].filter(n => !(n in SINGLES) && !prefixes.some(p => n.startsWith(p)));
    expect(left).toEqual([]);
  });
});
