// The historical bugs as data: rows, guards and pages agree, and each row names its fix.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bugDocument } from '../../cli/bugs/document.ts';
import { readBugs } from '../../cli/bugs/rows.ts';
import { BUG_CLASSES } from '../../run/bugs/row.ts';
import { ROOT } from '../support/command.ts';

const bugs = readBugs();
const ids = bugs.map(({ id }) => id).sort();
const sources = (readdirSync(join(ROOT, 'kernel'), { recursive: true }) as string[])
  .filter(path => path.endsWith('.c'))
  .map(path => readFileSync(join(ROOT, 'kernel', path), 'utf8'));
const named = (macros: string): string[] =>
  [
    ...new Set(
      sources.flatMap(text =>
        [...text.matchAll(new RegExp(`\\b(?:${macros})\\((\\w+)`, 'g'))].map(m => m[1]!),
      ),
    ),
  ].sort();

describe('historical bugs', () => {
  it('rows, guards, canaries and the list of the kernel have the same names', () => {
    const list = readFileSync(join(ROOT, 'kernel/opt/bugs/bugs.def'), 'utf8');
    expect([...list.matchAll(/^BUG_ROW\((\w+)\)$/gm)].map(m => m[1]!)).toEqual(ids);
    expect(named('BUG')).toEqual(ids);
    expect(named('BUG_NOTE|BUG_NOTE_MORE|BUG_NOTE_WATCHED')).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9_]{0,37}$/);
  });

  it('are at least 30, and 10 of each class', () => {
    expect(bugs.length).toBeGreaterThanOrEqual(30);
    for (const name of BUG_CLASSES)
      expect(bugs.filter(bug => bug.class === name).length).toBeGreaterThanOrEqual(10);
  });

  it.each(bugs.map(bug => [bug.id, bug] as const))(
    '%s names its fix',
    (_, { upstream, harts, schedSeed }) => {
      expect(upstream.ids.length > 0 || upstream.commit !== undefined || upstream.subject !== undefined).toBe(
        true,
      );
      if (schedSeed !== undefined) expect(harts).toBeGreaterThan(1);
    },
  );

  it('docs/bugs.md is current', () => {
    const path = join(ROOT, 'docs/bugs.md');
    const text = bugDocument(bugs);
    if (process.env['UPDATE_DOCS']) writeFileSync(path, text);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});
