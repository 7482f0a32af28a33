// GDB never changes the run hash, neither that of a live run nor that of a capsule.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { THREADS } from './attach.ts';
import { GDB, talkTo } from './gdb-talk.ts';

describe.skipIf(missing('gdb-multiarch', GDB) || missing('clang and lld', ASSEMBLER))(
  'attaching changes nothing',
  () => {
    const dir = mkdtempSync(join(tmpdir(), 'kcovbox-attach-'));
    const symbols = join(dir, 'threads.elf');
    afterAll(() => rmSync(dir, { recursive: true, force: true }));
    beforeAll(() => {
      writeFileSync(join(dir, 'threads.c'), THREADS);
      expect(kcovbox(['build', '--cflags', '-O0', '-o', symbols, 'threads.c'], { cwd: dir }).status).toBe(0);
    });
    const commands = [
      'break step',
      'continue',
      'continue',
      'reverse-continue',
      'thread 2',
      'stepi 20',
      'reverse-stepi 20',
      'thread 1',
      'stepi',
      'reverse-stepi',
      'next',
      'reverse-next',
      'delete',
      'watch *(unsigned long *)&rounds',
      'continue',
      'reverse-continue',
      'delete',
      'monitor seek +1000000',
      'monitor seek start',
      'detach',
    ];

    test.each(['jit', 'interp'])('a live run (%s)', async engine => {
      const run = (result: string): string[] => [
        '--engine',
        engine,
        '--smp',
        '2',
        '--cflags',
        '-O0',
        '--result',
        result,
      ];
      expect(kcovbox(['run', ...run('straight.json'), 'threads.c'], { cwd: dir }).status).toBe(4);
      const args = ['run', ...run('debugged.json'), '-S', 'threads.c'] as const;
      const { gdb, served } = await talkTo(args, { cwd: dir, symbols, commands });
      expect(served, gdb).toMatchObject({ status: 4, stdout: '1\n' });
      // The script did what it says: stops, and both ways over a store.
      for (const said of ['Breakpoint 1, step', 'New value = 150000', 'New value = 0', 'unit 0 of 0 to '])
        expect(gdb).toContain(said);
      const [straight, debugged] = ['straight.json', 'debugged.json'].map(
        name =>
          JSON.parse(readFileSync(join(dir, name), 'utf8')) as {
            outcome: { runHash: { links: string[] } };
            runId: string;
          },
      );
      expect(straight!.outcome.runHash.links.length).toBeGreaterThan(4);
      expect(debugged!.outcome).toEqual(straight!.outcome);
      expect(debugged!.runId).toBe(straight!.runId);
    });

    test('a capsule', async () => {
      const ran = kcovbox(
        ['run', '--smp', '2', '--cflags', '-O0', '--record', 'threads.kcapsule', 'threads.c'],
        { cwd: dir },
      );
      expect(ran.status, ran.stderr).toBe(4);
      const result = ['--result', 'replayed.json', 'threads.kcapsule'];
      const { gdb, served } = await talkTo(['replay', '-S', ...result], { cwd: dir, symbols, commands });
      expect(served, gdb).toMatchObject({ status: 4, stdout: '1\n' });
      expect(served.stderr).toMatch(/kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/);
    });
  },
);
