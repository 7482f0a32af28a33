// `kcovbox replay -S` and Debian's GDB: from a crash back to its cause, and the run stays the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { missing } from '../support/tools.ts';
import { GDB } from './gdb-talk.ts';
import { FIND_THE_STORE, type Recorded, recordOverrun, removeOverrun, talk } from './overrun.ts';

const SAME = /kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/;

describe.skipIf(missing('gdb-multiarch', GDB) || missing('clang and lld', ASSEMBLER))(
  'gdb and a capsule',
  () => {
    let recorded: Recorded;
    beforeAll(() => {
      recorded = recordOverrun(200_000);
    });
    afterAll(() => removeOverrun(recorded));

    test('a reverse watchpoint finds the store that caused the crash', async () => {
      const { gdb, served } = await talk(recorded, FIND_THE_STORE);
      expect(gdb, gdb).toContain('Hardware watchpoint');
      expect(gdb).toMatch(
        /Old value = \(struct node \*\) 0x[0-9a-f]+\nNew value = \(struct node \*\) 0x[0-9a-f]+/,
      );
      expect(gdb).toMatch(/in greet \(/);
      expect(served.stderr).toMatch(SAME);
      expect(served.status).toBe(139);
      expect(served.stdout.match(/sum 3/g), served.stdout).toHaveLength(1);
    });

    test('reverse-step, -next, -finish; the run ends as it did', async () => {
      const { gdb, served } = await talk(recorded, [
        'break greet',
        'continue',
        'finish',
        'printf "behind: %s\\n", block->text',
        'reverse-step',
        'reverse-continue',
        'printf "before: [%s]\\n", block->text',
        'reverse-continue',
        'delete',
        'continue',
        'info threads',
        'reverse-stepi',
        'continue',
      ]);
      expect(gdb).toContain('behind: a name of 20 letters');
      expect(gdb).toContain('before: []');
      expect(gdb.match(/No more reverse-execution history/g)).toHaveLength(3);
      expect(gdb).toMatch(/\* 1 +Thread 1 "?.*hart 0/);
      expect(served.stderr).toMatch(SAME);
    });
  },
);
