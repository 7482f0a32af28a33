// The options of the GDB stub: `--gdb tcp::PORT`, `-s` (port 1234) and `-S` (stop until GDB
// continues), as in QEMU.
import type { Command } from 'commander';
import { UserError } from '../io/fail.ts';

/** The port of `-s`, as in QEMU. */
export const GDB_PORT = 1234;

export interface GdbOptions {
  readonly port: number;
  /** Stand before the first instruction. */
  readonly stopped: boolean;
}

/** `tcp::1234` or `tcp:localhost:1234`. `flag`: as the command spells it. */
export function parseGdb(text: string, flag = '--gdb'): number {
  const port = Number(/^tcp:(?:localhost|127\.0\.0\.1)?:(\d+)$/.exec(text)?.[1] ?? Number.NaN);
  if (!(port >= 1 && port <= 65535))
    throw new UserError(`${flag} ${text}: write it as tcp::PORT, with a port from 1 to 65535`);
  return port;
}

/** As commander gives them. */
export interface GdbFlags {
  s?: true;
  S?: true;
  gdb?: string;
}

export const addGdbOptions = (command: Command): Command =>
  command
    .option('--gdb <tcp::port>', 'a GDB stub on this port of the loopback interface')
    .option('-s', 'short for --gdb tcp::1234')
    .option('-S', 'wait for GDB before the first instruction');

export function gdbOf({ s, S, gdb }: GdbFlags): GdbOptions | undefined {
  if (!s && gdb === undefined) {
    if (S) throw new UserError('-S without a debugger: add -s, or --gdb tcp::PORT');
    return undefined;
  }
  return { port: gdb === undefined ? GDB_PORT : parseGdb(gdb), stopped: S === true };
}
