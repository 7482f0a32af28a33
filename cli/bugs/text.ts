// Historical bugs as text: the table, the page of one, and the document of all.
import { relative } from 'node:path';
import type { Bug, Detector } from '../../run/bugs/row.ts';
import { printedWord } from '../io/shell-word.ts';
import { BUG_CONF, bugWords } from './guest.ts';
import { triggerOf } from './rows.ts';

const DETECTED_BY: Readonly<Record<Detector, string>> = {
  kasan: 'KASAN',
  ubsan: 'UBSAN',
  panic: 'a panic',
  hang: 'a hang',
  result: 'a wrong result',
};

/** The name by which the fix is found upstream. */
export function fixOf({ upstream: { ids, commit, subject } }: Bug): string {
  const names = [...ids, ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`])];
  return names.length > 0 ? names.join(', ') : `"${subject}"`;
}

/** Cells of one width in each column. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map(row => row[i]!.length)));
  const line = (row: readonly string[]): string => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ');
  return rows.map(row => `${line(row).trimEnd()}\n`).join('');
}

export const bugTable = (bugs: readonly Bug[]): string =>
  columns([
    ['bug', 'class', 'upstream', 'fix', 'shown by'],
    ...bugs.map(bug => [bug.id, bug.class, bug.upstream.project, fixOf(bug), DETECTED_BY[bug.detector]]),
  ]);

/** The line of `kcovbox run`, for this folder, that switches bugs on; one bug with its trigger. */
export function enableCommand(bugs: readonly Bug[], conf = BUG_CONF): string {
  const words = ['kcovbox run', `--conf ${conf}`, `--append "${bugWords(bugs.map(({ id }) => id))}"`];
  const [bug] = bugs;
  if (!bug || bugs.length > 1) return words.join(' ');
  if (bug.harts > 1) words.push(`--smp ${bug.harts}`);
  if (bug.schedSeed !== undefined) words.push(`--sched-seed ${bug.schedSeed}`);
  const trigger = triggerOf(bug.id);
  const below = relative(process.cwd(), trigger);
  return [...words, printedWord(below.startsWith('..') ? trigger : below)].join(' ');
}

/** Lines of at most `width` columns. */
function fold(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

const WIDTH = 100;

/** A section of the document. `sources`: the files of the kernel that have its guards. */
export function bugPage(bug: Bug, sources: readonly string[]): string {
  const { upstream } = bug;
  const facts = [
    `${upstream.project}, ${upstream.place}; fixed: ${upstream.fixed}.`,
    ...(upstream.subject === undefined ? [] : [`The fix is "${upstream.subject}".`]),
    ...(upstream.commit === undefined ? [] : [`The fix is commit ${upstream.commit}.`]),
    ...(upstream.ids.length === 0 ? [] : [`Records: ${upstream.ids.join(', ')}.`]),
  ];
  const harts = bug.harts > 1 ? ` on ${bug.harts} harts` : '';
  return [
    `### \`${bug.id}\`\n`,
    `${fold(`${bug.title}. ${upstream.text}`, WIDTH)}\n`,
    `${fold(facts.join(' '), WIDTH)}\n`,
    `${fold(`Here: ${bug.here} Guards: ${sources.map(path => `\`${path}\``).join(', ')}. The trigger${harts} is shown by ${DETECTED_BY[bug.detector]}.`, WIDTH)}\n`,
  ].join('\n');
}
