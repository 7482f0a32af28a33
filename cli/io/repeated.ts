// Options that may be given several times, and the refusal of all others.
import { statSync } from 'node:fs';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { UserError } from './fail.ts';

/** Lists that `collect` has made; a default is none of them, and stays as it is. */
const collected = new WeakSet<readonly unknown[]>();

/** Collects values in linear time: a pattern of the shell may give many. */
export function collect<T>(value: T, before: T[] = []): T[] {
  const list = collected.has(before) ? before : [...before];
  collected.add(list);
  list.push(value);
  return list;
}

/** Collects the values of an option, for commander. */
export const repeated = (text: string, before?: string[]): string[] => collect(text, before);

/** The same for folders that have to be there. */
export function repeatedFolder(dir: string, before?: string[]): string[] {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidArgumentError('there is no such folder');
  return repeated(dir, before);
}

/** The help says which options may be given several times; a test compares it with the parsers. */
export const isRepeatable = ({ description }: Option): boolean => /\(repeatable\b/.test(description);

/**
 * Refuses the second value of an option that takes one: the last would win, and nobody would say
 * so. A switch may be given twice. Defaults are no values of the command line.
 */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if (!(option.required || option.optional) || isRepeatable(option)) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new UserError(`${option.flags} is given twice: leave one of them out`);
      isGiven = true;
    });
  }
}
