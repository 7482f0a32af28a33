// The help says of each option whether it may be given several times, and its parser agrees.
import type { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { isRepeatable, repeated } from '../../cli/io/repeated.ts';
import { createProgram } from '../../cli/main.ts';
import { ROOT } from '../support/command.ts';

/** A value for any of the parsers that collect. */
const VALUES = ['x', 'A=1', 'irq-drop', 'rw', ROOT];

/** True if the option keeps its values in a list, or by name: an earlier one is still there. */
const collects = ({ parseArg }: Option): boolean =>
  VALUES.some(value => {
    if (!parseArg) return false;
    try {
      const kept: unknown = parseArg(value, undefined);
      if (Array.isArray(kept)) return (parseArg(value, ['earlier']) as string[]).includes('earlier');
      const isRecord =
        typeof kept === 'object' && kept !== null && Object.getPrototypeOf(kept) === Object.prototype;
      return isRecord && Object.hasOwn(parseArg(value, { earlier: '' }) as object, 'earlier');
    } catch {
      return false; // not one of its values
    }
  });

function* optionsOf(command: Command): Generator<readonly [name: string, option: Option]> {
  for (const option of command.options) yield [`${command.name()} ${option.flags}`, option];
  for (const child of command.commands) yield* optionsOf(child);
}

test('every option that collects values is called repeatable, and no other', async () => {
  const options = [...optionsOf(await createProgram(undefined))];
  const names = (wanted: (option: Option) => boolean): string[] =>
    options.filter(([, option]) => wanted(option)).map(([name]) => name);
  expect(names(isRepeatable)).toEqual(names(collects));
  expect(names(isRepeatable).length).toBeGreaterThan(30);
});

test('values are collected in linear time, and a default is not changed', () => {
  const start: string[] = ['default'];
  let list = start;
  const begin = performance.now();
  for (let i = 0; i < 200_000; i++) list = repeated(`${i}`, list);
  expect(performance.now() - begin).toBeLessThan(5000); // copying the list each time takes minutes
  expect([list.length, list[0], list.at(-1)]).toEqual([200_001, 'default', '199999']);
  expect(start).toEqual(['default']);
});
