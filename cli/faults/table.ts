// The rows of a sweep as a table for people: events of one kind with one outcome are one line.
import { visible } from '../../emulator/base/words.ts';
import { type FaultEvent, type FaultKind, faultRow, faultText } from '../../emulator/index.ts';
import type { Sweep, SweepRow } from '../../run/faults/sweep.ts';
import { OUTCOMES, type Outcome } from '../../run/many/outcome.ts';

/** Columns of the text that tells most. */
const LINE_MAX = 64;
/** Ranges of events in a cell. */
const PARTS_MAX = 5;

interface Group {
  readonly first: SweepRow;
  readonly events: number[];
}

/** Rows of one device, kind, outcome and status, in their order. */
function groupsOf(rows: readonly SweepRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const { fault, outcome, status } = row;
    const key = [fault.device, fault.kind, outcome, status].join(' ');
    const group = groups.get(key);
    if (group) group.events.push(fault.at);
    else groups.set(key, { first: row, events: [fault.at] });
  }
  return [...groups.values()];
}

/** `1-4,9`: ascending numbers, runs of them as ranges; of many parts the first, and a count. */
function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const n of numbers) {
    const last = parts.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  const texts = parts.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
  if (texts.length <= PARTS_MAX) return texts.join(',');
  return `${texts.slice(0, PARTS_MAX).join(',')},... (${numbers.length})`;
}

/** The beginning of a text that is too long, with dots for the rest. */
function shortened(text: string): string {
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX - 3).trimEnd()}...`;
}

/** How many events the device had: `summer: 9 access, 5 read, 4 write, 1 irq`. */
function eventsLine(device: string, counts: Readonly<Partial<Record<FaultEvent, number>>>): string {
  const parts = Object.entries(counts).map(([event, n]) => `${n} ${event}`);
  return `${device}: ${parts.length > 0 ? parts.join(', ') : 'the program does not reach it'}\n`;
}

/** The table, and below it the shell line that repeats the first of the worst rows. */
export function sweepTable({ rows, counts, without }: Sweep, command: (fault: string) => string): string {
  const groups = groupsOf(rows);
  const cells = groups.map(({ first, events }) => [
    `${first.fault.device}:${first.fault.kind}`,
    `${faultRow(first.fault.kind as FaultKind).event} ${ranges(events)}`,
    first.outcome,
    String(first.status),
    first.outcome === 'ok' ? '' : shortened(visible(first.line)),
  ]);
  const head = ['fault', 'event', 'outcome', 'status', 'what the first of them printed'];
  const widths = head.map((text, i) => Math.max(text.length, ...cells.map(row => row[i]!.length)));
  const lined = (row: readonly string[]): string =>
    `${row.map((text, i) => text.padEnd(widths[i]!)).join('  ')}`.trimEnd();
  const totals = OUTCOMES.map(outcome => [outcome, rows.filter(r => r.outcome === outcome).length] as const);
  const tally = totals.filter(([, n]) => n > 0).map(([outcome, n]) => `${n} ${outcome}`);
  const lines = [lined(head), ...cells.map(lined)];
  const worst = [...totals].reverse().find(([, n]) => n > 0)?.[0] as Outcome | undefined;
  const example = rows.find(row => row.outcome === worst);
  return [
    ...[...counts].map(([device, events]) => eventsLine(device, events)),
    '\n',
    ...lines.map(line => `${line}\n`),
    `\n${rows.length} runs: ${tally.join(', ')}; without a fault: status ${
      without.result?.kind === 'exit' ? without.result.status : '?'
    }\n`,
    ...(example ? [`the first ${worst} again:\n  ${command(faultText(example.fault))}\n`] : []),
  ].join('');
}
