// A line table that two units share, of two compilation directories: the path of a file is that of
// the unit that asks, whichever asked before.
import { expect, test } from 'vitest';
import type { Sections } from '../../coverage/dwarf/forms.ts';
import { readLineTable } from '../../coverage/dwarf/line.ts';

const NONE = new Uint8Array(0);

/** Version 4, without directories or rows: file 1 is ./a.c. */
function tableOfOneFile(): Uint8Array {
  const lists = [0, ...new TextEncoder().encode('./a.c'), 0, 0, 0, 0, 0];
  const settings = [1, 1, 1, 0, 1, 1];
  const rest = settings.length + lists.length;
  return Uint8Array.of(...[6 + rest, 0, 0, 0], ...[4, 0], ...[rest, 0, 0, 0], ...settings, ...lists);
}

const sections: Sections = {
  ...{ info: NONE, abbrev: NONE, line: tableOfOneFile(), str: NONE, lineStr: NONE, strOffsets: NONE },
  ...{ addr: NONE, ranges: NONE, rnglists: NONE, loc: NONE, loclists: NONE, listBytes: 0 },
};

test('a file of a shared table lies in the directory of the unit that asks', () => {
  const table = readLineTable(sections, 0);
  for (const dir of ['/one', '/two', '/one']) {
    expect(table.path(1, dir)).toBe(`${dir}/./a.c`);
    expect(table.cleanPath(1, dir)).toBe(`${dir}/a.c`);
  }
});
