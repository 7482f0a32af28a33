// A heap that is overrun long before the crash (examples/overrun.c): the store is found by GDB's
// reverse watchpoint, over the command's own socket.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';
import { findProgram } from '../support/tools.ts';

export const GDB = findProgram('gdb-multiarch');
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

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

interface Talk {
  /** Everything that GDB printed. */
  readonly gdb: string;
  readonly replay: { readonly status: number | null; readonly stdout: string; readonly stderr: string };
}

/** Runs GDB with these commands against `kcovbox replay` of a capsule. */
export async function talk(
  { capsule, program, dir }: Recorded,
  commands: readonly string[],
  seconds = 120,
): Promise<Talk> {
  const port = await freePort();
  const replay = spawn(process.execPath, [COMMAND, 'replay', '--gdb', `tcp::${port}`, '-S', capsule], {
    cwd: dir,
  });
  let [stdout, stderr] = ['', ''];
  replay.stdout.on('data', data => (stdout += data));
  const isListening = new Promise<void>(done =>
    replay.stderr.on('data', data => {
      stderr += data;
      if (stderr.includes('waiting for gdb')) done();
    }),
  );
  const ended = once(replay, 'close');
  await isListening;
  const set = ['set confirm off', 'set pagination off', 'set width 0', `file ${program}`];
  const all = [...set, `target remote 127.0.0.1:${port}`, ...commands];
  const gdb = spawn(GDB!, ['-nx', '-batch', ...all.flatMap(command => ['-ex', command])]);
  let text = '';
  gdb.stdout.on('data', data => (text += data));
  gdb.stderr.on('data', data => (text += data));
  const timer = setTimeout(() => {
    gdb.kill();
    replay.kill();
  }, seconds * 1000);
  await once(gdb, 'close');
  const [status] = (await ended) as [number | null];
  clearTimeout(timer);
  return { gdb: text, replay: { status, stdout, stderr } };
}

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
