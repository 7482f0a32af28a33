// The rest of matrix.oracle.test.ts: one hart for the programs that are not Linux's, and more
// programs where one runs others.
import { describe, it } from 'vitest';
import { noSystem, PROGRAMS, passes } from './matrix.ts';

describe.skipIf(noSystem)("on QEMU's virt board", () => {
  for (const [name, row] of Object.entries(PROGRAMS))
    if (row.own !== undefined) it(`${name} with 1 hart(s)`, async () => void (await passes(name, row, 1)));

  for (const [name, { more = [], ...row }] of Object.entries(PROGRAMS))
    for (const harts of more.length > 0 ? [1, 4] : [])
      it(`${name} of ${more.join(', ')} with ${harts} hart(s)`, async () => {
        const args = more.map(each => `/bin/${each}`).join(' ');
        await passes(name, { ...row, args, with: more }, harts);
      });
});
