// A heap that is overrun long before the crash (examples/overrun.c): the store is found by GDB's
// reverse watchpoint, over the command's own socket.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kcovbox, ROOT } from '../support/command.ts';
import { talkTo } from './gdb-talk.ts';

export const SOURCE = join(ROOT, 'examples', 'overrun.c');

export interface Recorded {
  readonly dir: string;
  readonly capsule: string;
  /** The program with its symbols. */
  readonly program: string;
}

/** Records a run that crashes so many rounds after the corruption; undefined: the default. */
export function recordOverrun(rounds: number | undefined): Recorded {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-overrun-'));
  const capsule = join(dir, 'overrun.kcapsule');
  const program = join(dir, 'overrun.elf');
  const options = { cwd: dir, timeout: 600_000 };
  const built = kcovbox(['build', '-o', program, SOURCE], options);
  if (built.status !== 0) throw new Error(built.stderr);
  const ran = kcovbox(
    ['run', '--record', capsule, SOURCE, ...(rounds === undefined ? [] : ['--', String(rounds)])],
    options,
  );
  if (ran.status !== 139) throw new Error(`status ${ran.status}: ${ran.stderr}`);
  return { dir, capsule, program };
}

export const removeOverrun = ({ dir }: Recorded): void => rmSync(dir, { recursive: true, force: true });

const SUM = `#include <stdio.h>
static int
sum(int n)
{
    int all = 0;
    for (int i = 1; i <= n; i++)
        all += i;
    return all;
}
int main(void) { int unused = 7; return sum(5); }
`;

/** `sum.kcapsule` below a folder: a program of sum.c, whose functions have frames. */
export function recordSum(dir: string): void {
  writeFileSync(join(dir, 'sum.c'), SUM);
  const words = ['run', '--cflags', '-g -O0', '--record', 'sum.kcapsule', 'sum.c'];
  const { status, stderr } = kcovbox(words, { cwd: dir });
  if (status !== 15) throw new Error(`status ${status}: ${stderr}`);
}

/** Runs GDB with these commands against `kcovbox replay` of a capsule. */
export const talk = ({ capsule, program, dir }: Recorded, commands: readonly string[], seconds = 120) =>
  talkTo(['replay', '-S', capsule], { cwd: dir, symbols: program, commands, seconds });

/** From the crash back to the store that changed the list. */
export const FIND_THE_STORE = [
  'break sum',
  'continue',
  'continue',
  'continue',
  'delete',
  'watch block->node.next',
  'reverse-continue',
  'backtrace',
  'monitor position',
  'detach',
];
