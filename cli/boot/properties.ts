// QEMU's `word,key=value,key,...`: the pieces of an option's value.
import { UserError } from '../io/fail.ts';

/**
 * A key without `=` is `on`, except the first word, whose key is ''. A doubled comma stands for
 * one.
 */
export function properties(text: string): Map<string, string> {
  const parts = text.replaceAll(',,', '\0').split(',');
  return new Map(
    parts.map((part, i): [string, string] => {
      const [key, ...rest] = part.replaceAll('\0', ',').split('=');
      if (rest.length > 0) return [key!, rest.join('=')];
      return i === 0 ? ['', key!] : [key!, 'on'];
    }),
  );
}

/** Refuses every key that is not in `known`. `what` is the option as typed. */
export function onlyKeys(what: string, given: Map<string, string>, known: readonly string[]): void {
  for (const key of given.keys())
    if (!known.includes(key)) throw new UserError(`${what}: unknown property "${key}"`);
}

export function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  if (!allowed.includes(value as T))
    throw new UserError(`${option} ${value}: expected one of ${allowed.join(', ')}`);
  return value as T;
}

export const isOn = (value: string | undefined): boolean => value === 'on' || value === 'true';
