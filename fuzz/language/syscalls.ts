// The kernel's own table of system calls: the lines SYSCALL(number, name, arguments) of its
// syscalls.def files. Descriptions add types to these; a call without a description gets arguments
// of unknown type, so that no call of the kernel is left out unseen.
import { NAME_MAX } from './cursor.ts';
import { FuzzError } from './types.ts';

export interface SyscallRow {
  readonly number: number;
  readonly name: string;
  readonly args: number;
}

/** Arguments of a system call: registers a0 to a5. */
const ARGS_MAX = 6;
const ROW = /^SYSCALL\([ \t]*(\d{1,20})[ \t]*,[ \t]*(\w+)[ \t]*,[ \t]*(\d{1,20})[ \t]*\)/;
const NUMBER_MAX = 0x7fff_ffff;
const NAME = new RegExp(`^[A-Za-z_]\\w{0,${NAME_MAX - 1}}$`);

/** Errors: FuzzError for a row that no kernel has, and when a name stands in two rows. */
export function parseSyscalls(texts: readonly string[]): Map<string, SyscallRow> {
  const rows = new Map<string, SyscallRow>();
  for (const text of texts)
    for (const [line] of text.matchAll(/^SYSCALL\(.*/gm)) {
      const [, number, name, args] = ROW.exec(line) ?? [];
      if (args === undefined)
        throw new FuzzError(
          `${JSON.stringify(line.slice(0, NAME_MAX))}: expected SYSCALL(number, name, arguments)`,
        );
      const shown = name!.slice(0, NAME_MAX);
      if (!NAME.test(name!))
        throw new FuzzError(`system call ${shown}: a name is one in C, of at most ${NAME_MAX} characters`);
      if (Number(args) > ARGS_MAX)
        throw new FuzzError(`system call ${shown}: ${args} arguments, ${ARGS_MAX} are possible`);
      if (Number(number) > NUMBER_MAX)
        throw new FuzzError(`system call ${shown}: its number is above ${NUMBER_MAX}`);
      if (rows.has(name!)) throw new FuzzError(`system call ${shown} stands in two tables`);
      rows.set(name!, { number: Number(number), name: name!, args: Number(args) });
    }
  return rows;
}
