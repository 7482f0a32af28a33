// Zfhmin and Zfa against arithmetic written from IEEE 754: every half, and lists of corners times
// rounding modes, on both engines. The images also run on QEMU 10: zf-tables.oracle.test.ts.

import { beforeAll, describe, expect, test } from 'vitest';
import {
  allTables,
  checkTables,
  type Table,
  type TableImage,
  tableImage,
} from '../support/oracle/fp-tables.ts';
import { kcovboxRunner } from '../support/oracle/kcovbox.ts';

/** Twice every half, four times, and the lists. */
const COMPARED = 600_000;

describe('Zfhmin and Zfa', () => {
  let tables: Table[];
  let image: TableImage;
  beforeAll(() => {
    tables = allTables();
    image = tableImage(tables);
  });

  test('both engines give what IEEE 754 says', () => {
    const run = (engine: 'interp' | 'jit') => kcovboxRunner(engine, 'max').run({ bytes: image.bytes });
    const memory = run('interp');
    const { wrong, compared } = checkTables(tables, image, memory);
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(COMPARED);
    expect(Buffer.compare(run('jit'), memory), 'both engines leave the same memory').toBe(0);
    console.info(`${compared} results in ${tables.length} tables`);
  });

  test('a result that is wrong by one bit is reported', () => {
    const memory = image.bytes.slice();
    expect(checkTables(tables.slice(0, 1), image, memory).wrong).toHaveLength(20);
  });
});
