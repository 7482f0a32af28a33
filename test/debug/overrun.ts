// A heap that is overrun long before the crash (examples/overrun.c): the store is found by GDB's
// reverse watchpoint, over the command's own socket.
import { mkdtempSync, rmSync } from 'node:fs';
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
