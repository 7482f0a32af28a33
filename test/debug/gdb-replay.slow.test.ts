// The same search over a distance of 200 million instructions.
import { describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { GDB } from './gdb-talk.ts';
import { FIND_THE_STORE, recordOverrun, removeOverrun, talk } from './overrun.ts';

/** Seven instructions each. */
const ROUNDS = 30_000_000;

describe.skipIf(missing('gdb-multiarch', GDB) || missing('clang and lld', ASSEMBLER))(
  'gdb and a capsule',
  () => {
    test('a corruption 200 million instructions before its crash', async () => {
      const recorded = recordOverrun(ROUNDS);
      try {
        const { gdb, served } = await talk(recorded, FIND_THE_STORE, 600);
        expect(gdb).toMatch(/in greet \(/);
        const [, unit, latest] = /unit (\d+) of 0 to (\d+):/.exec(gdb)!;
        expect(Number(latest) - Number(unit)).toBeGreaterThan(200_000_000);
        expect(served.stderr).toContain('the same run');
        const { capsule, dir } = recorded;
        const commands = ['break sum', 'continue', 'continue', 'last-write block->node.next'];
        const args = ['debug', capsule, ...commands.flatMap(command => ['-x', command])];
        const { stdout, status } = kcovbox(args, { cwd: dir, timeout: 600_000 });
        expect({ status, isFound: /^unit \d+, hart 0: memcpy/m.test(stdout) }).toEqual({
          status: 0,
          isFound: true,
        });
      } finally {
        removeOverrun(recorded);
      }
    });
  },
);
