// GDB and a command with a stub, as two processes: scripts for the one, a run of the other.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { COMMAND } from '../support/command.ts';
import { findProgram } from '../support/tools.ts';

export const GDB = findProgram('gdb-multiarch');

export interface Talk {
  /** Everything that GDB printed. */
  readonly gdb: string;
  /** The command that served it. */
  readonly served: { readonly status: number | null; readonly stdout: string; readonly stderr: string };
}

export interface TalkOptions {
  readonly cwd: string;
  /** An ELF file; undefined: GDB has none. */
  readonly symbols?: string;
  /** Of GDB, after it has connected. */
  readonly commands: readonly string[];
  /** Standard input of the command. */
  readonly input?: string;
  readonly seconds?: number;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Runs `kcovbox ARGS` with a stub, and GDB with these commands against it; waits for both. */
export async function talkTo(
  [verb, ...args]: readonly [verb: 'replay' | 'run' | 'boot', ...args: string[]],
  { cwd, symbols, commands, input = '', seconds = 120 }: TalkOptions,
): Promise<Talk> {
  const port = await freePort();
  const flag = verb === 'boot' ? '-gdb' : '--gdb';
  const served = spawn(process.execPath, [COMMAND, verb, flag, `tcp::${port}`, ...args], { cwd });
  served.stdin.end(input);
  let [stdout, stderr] = ['', ''];
  served.stdout.on('data', data => (stdout += data));
  const ended = once(served, 'close');
  const isListening = new Promise<void>((done, failed) => {
    served.stderr.on('data', data => {
      stderr += data;
      if (stderr.includes('waiting for gdb')) done();
    });
    served.once('close', () => failed(new Error(`it has ended: ${stderr}`)));
  });
  await isListening;
  const set = ['set confirm off', 'set pagination off', 'set width 0'];
  if (symbols !== undefined) set.push(`file ${symbols}`);
  const all = [...set, `target remote 127.0.0.1:${port}`, ...commands];
  const gdb = spawn(GDB!, ['-nx', '-batch', ...all.flatMap(command => ['-ex', command])]);
  let text = '';
  gdb.stdout.on('data', data => (text += data));
  gdb.stderr.on('data', data => (text += data));
  const timer = setTimeout(() => {
    gdb.kill();
    served.kill();
  }, seconds * 1000);
  await once(gdb, 'close');
  const [status] = (await ended) as [number | null];
  clearTimeout(timer);
  return { gdb: text, served: { status, stdout, stderr } };
}
