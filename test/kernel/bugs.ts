// A bug with its trigger shows, and a kernel without it is clean, through the command.
import { expect } from 'vitest';
import type { Bug } from '../../run/bugs/row.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const cli = (...args: readonly string[]) => kcovbox(args, { cwd: ROOT, timeout: 300_000 });

/** The lines of `kcovbox bugs run`, by their first word. */
export function bugRun(...args: readonly string[]) {
  const { status, stdout, stderr } = cli('bugs', 'run', ...args);
  const lines = Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [, name, text] = /^(\w+) +(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, text!]];
    }),
  );
  return { status, lines, stderr: stderr.replace(/^kcovbox: building .*\n/, '') };
}

const times = (text: string | undefined): number =>
  Number(/^([\d,]+) times?$/.exec(text ?? '')?.[1]?.replaceAll(',', ''));

export function shows({ id, detector }: Bug, ...more: readonly string[]): void {
  const { status, lines, stderr } = bugRun(id, ...more);
  expect({ id, status, stderr }).toEqual({ id, status: 0, stderr: '' });
  expect(times(lines['reached'])).toBeGreaterThan(0);
  expect(times(lines['triggered'])).toBeGreaterThan(0);
  expect(lines['detected']).toMatch(new RegExp(`^${detector}: .`));
}

export function isCleanWithout({ id }: Bug, ...more: readonly string[]): void {
  const { status, lines, stderr } = bugRun(id, '--off', ...more);
  expect({ id, status, stderr }).toEqual({ id, status: 0, stderr: '' });
  expect(lines).toEqual({ reached: '0 times', triggered: '0 times', detected: 'no', status: '0' });
}
