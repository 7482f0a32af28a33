// The tables of zf-tables.test.ts on QEMU 10: it must agree with IEEE 754, too, so each is a check
// of the other.

import { expect, test } from 'vitest';
import { allTables, checkTables, tableImage } from '../support/oracle/fp-tables.ts';
import { newQemuRunner, QEMU_NEW } from '../support/oracle/qemu-new.ts';

test.skipIf(QEMU_NEW === undefined)('QEMU gives what IEEE 754 says', () => {
  const tables = allTables();
  const image = tableImage(tables);
  const memory = newQemuRunner.run({ bytes: image.bytes });
  const { wrong, compared } = checkTables(tables, image, memory);
  expect(wrong).toEqual([]);
  expect(compared).toBeGreaterThan(600_000);
});
