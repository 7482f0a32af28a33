// The kernel's own table of system calls: the lines SYSCALL(number, name, arguments) of its
// syscalls.def files. Descriptions add types to these; a call without a description gets arguments
// of unknown type, so that no call of the kernel is left out unseen.
import { FuzzError } from './types.ts';

export interface SyscallRow {
  readonly number: number;
  readonly name: string;
  readonly args: number;
}

/** Errors: FuzzError when a name stands in two rows. */
export function parseSyscalls(texts: readonly string[]): Map<string, SyscallRow> {
  const rows = new Map<string, SyscallRow>();
  for (const text of texts)
    for (const [, number, name, args] of text.matchAll(/^SYSCALL\((\d+), (\w+), (\d)\)/gm)) {
      if (rows.has(name!)) throw new FuzzError(`system call ${name} stands in two tables`);
      rows.set(name!, { number: Number(number), name: name!, args: Number(args) });
    }
  return rows;
}
