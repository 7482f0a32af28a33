// `kcovbox boot -S` and Debian's GDB: a live machine goes back, and on again as without a debugger.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ASSEMBLER, assemble, ECHO, FINISH } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { GDB, talkTo } from './gdb-talk.ts';

/** The second hart counts for itself; the first one echoes three bytes, and counts in `cell`. */
const GUEST = `
  csrr t0, mhartid
  bnez t0, second
  ${ECHO}
.globl echoed
echoed:
  li s0, 0
  la s1, cell
.globl again
again:
  addi s0, s0, 1
.globl store
store:
  sd s0, 0(s1)
  li t1, 100
  bne s0, t1, again
  li a0, 7
  ${FINISH}
.globl second
second:
  addi t2, t2, 1
  j second
  .align 3
.globl cell
cell: .dword 0`;

describe.skipIf(missing('gdb-multiarch', GDB) || missing('clang and lld', ASSEMBLER))(
  'gdb and a machine that boots',
  () => {
    const dir = mkdtempSync(join(tmpdir(), 'kcovbox-gdb-boot-'));
    afterAll(() => rmSync(dir, { recursive: true, force: true }));
    const symbols = join(dir, 'guest.elf');
    const boot = ['-bios', 'none', '-kernel', symbols, '-m', '16M'];

    test.each(['1', '2'])('goes back by instructions, to breakpoints and stores (-smp %s)', async harts => {
      writeFileSync(symbols, assemble(GUEST).bytes);
      const machine = [...boot, '-smp', harts];
      const straight = kcovbox(['boot', ...machine], { cwd: dir, input: 'abc' });
      expect(straight).toEqual({ status: 7, stdout: 'abc', stderr: '' });
      const where = (name: string): string => `printf "${name}: %lx %d %d\\n", $pc, $s0, *(long *)&cell`;
      const { gdb, served } = await talkTo(['boot', ...machine, '-S'], {
        cwd: dir,
        symbols,
        input: 'abc',
        commands: [
          'printf "begin: %lx\\n", $pc',
          'break *store',
          'continue',
          'continue',
          'continue',
          where('third'),
          'stepi',
          where('stepped'),
          'reverse-stepi',
          where('back'),
          'reverse-stepi',
          where('before'),
          'reverse-continue',
          where('second'),
          'reverse-continue',
          where('first'),
          'delete',
          'watch *(long *)&cell',
          'continue',
          'continue',
          where('two stores'),
          'reverse-continue',
          where('one store'),
          'delete',
          'break *echoed',
          'reverse-continue',
          where('echoed'),
          'delete',
          // Behind the first byte of input.
          'reverse-continue',
          'printf "at the beginning: %lx\\n", $pc',
          'break *echoed',
          'continue',
          where('again'),
          'reverse-stepi',
          'printf "last byte: %d\\n", $s1',
          'delete',
          'detach',
        ],
      });
      const said = [...gdb.matchAll(/^([a-z ]+): ([0-9a-f]+(?: \d+ \d+)?)$/gm)].map(m => [m[1], m[2]]);
      const at = (name: string): string | undefined => said.find(([key]) => key === name)?.[1];
      const values = (name: string): string | undefined => at(name)?.replace(/^\w+ /, '');
      expect(at('begin'), gdb).toBe('80000000');
      expect(values('third')).toBe('3 2');
      expect(values('stepped')).toBe('3 3');
      expect(at('back')).toBe(at('third'));
      expect(values('before')).toBe('2 2');
      expect(at('second')).toBe(at('third')!.replace('3 2', '2 1'));
      expect(at('first')).toBe(at('third')!.replace('3 2', '1 0'));
      expect(gdb).toMatch(/Hardware watchpoint 2: .*\n\nOld value = 0\nNew value = 1\n/);
      expect(gdb).toMatch(/Hardware watchpoint 2: .*\n\nOld value = 2\nNew value = 1\n/);
      expect(values('two stores')).toBe('2 2');
      expect(values('one store')).toBe('2 1');
      expect(gdb).toContain('No more reverse-execution history');
      expect(at('at the beginning')).toBe('80000000');
      expect(at('again')).toBe(at('echoed'));
      expect(said.some(([key, value]) => key === 'last byte' && value === '0')).toBe(true);
      expect(served).toMatchObject({ status: 7, stdout: 'abc' });
    });

    test('a kernel with paging: to a function and back through the switches of threads', async () => {
      const kernel = join(dir, 'kernel.elf');
      expect(kcovbox(['build', 'kernel', '-o', kernel], { cwd: dir }).status).toBe(0);
      const machine = ['-kernel', kernel, '-m', '64M'];
      const { status, stdout } = kcovbox(['boot', ...machine], { cwd: dir });
      const { gdb, served } = await talkTo(['boot', ...machine, '-S'], {
        cwd: dir,
        symbols: kernel,
        commands: [
          'break context_switch',
          'continue',
          'printf "first: %lx %lx\\n", $sp, $a1',
          'continue',
          'printf "second: %lx %lx\\n", $sp, $a1',
          'reverse-continue',
          'printf "first: %lx %lx\\n", $sp, $a1',
          'reverse-finish',
          'backtrace 1',
          'continue',
          'continue',
          'printf "second: %lx %lx\\n", $sp, $a1',
          'detach',
        ],
      });
      const places = [...gdb.matchAll(/^(first|second): (\w+ \w+)$/gm)].map(m => m[2]);
      expect(places, gdb).toHaveLength(4);
      const [first, second] = places;
      expect(first).toMatch(/^ffffffff8/);
      expect(second).not.toBe(first);
      expect(places).toEqual([first, second, first, second]);
      expect(gdb).toMatch(/^#0 .* in schedule/m);
      expect({ status: served.status, stdout: served.stdout }).toEqual({ status, stdout });
    });
  },
);
