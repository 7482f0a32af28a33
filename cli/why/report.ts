// The answer for people.
import { visible } from '../../emulator/base/words.ts';
import { counted } from '../../emulator/index.ts';
import type { Asked } from '../../run/why/file.ts';
import type { Call } from '../../run/why/schema.ts';
import type { Sample } from '../../run/why/search.ts';
import type { Answer, Side } from '../../run/why/why.ts';
import type { SourceView } from '../debug/source.ts';
import { pathWord } from '../io/shell-word.ts';

const FRAMES_SHOWN = 8;
const INDENT = '    ';
/** Causes of interrupts (Priv, table "Machine cause register values after trap"). */
const INTERRUPTS: Readonly<Record<number, string>> = {
  1: 'a software interrupt',
  3: 'a software interrupt',
  5: 'a timer interrupt',
  7: 'a timer interrupt',
  9: 'an interrupt of a device',
  11: 'an interrupt of a device',
};

const number = (n: number): string => n.toLocaleString('en-US');
const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** `58 of 60 forks fail, 97 % (89 % to 99 %)`. */
function shareText({ forks, fails, interval }: Sample): string {
  if (forks === 0) return 'the run has failed';
  const { low, high } = interval;
  return `${fails} of ${counted(forks, 'fork')} fail, ${percent(fails / forks)} (${percent(low)} to ${percent(high)})`;
}

/** `view`: the sources of the run. */
export function reportOf(
  answer: Answer<Call[]>,
  { failure, spread }: Asked,
  path: string,
  view: SourceView,
): string {
  const { first, failed, samples, step } = answer;
  const out = [
    `failure: ${failure}, at unit ${number(failed)}`,
    `forks: turns of harts of 1 to ${number(Math.max(1, 2 * spread))} units, timers and devices up to ${number(spread)} units late`,
    '',
    ...tableOf(samples),
    '',
  ];
  if (answer.kind === 'always')
    out.push(
      `the failure was inevitable from unit ${number(first)} on, the first place of the search: ` +
        'it fails under every schedule',
    );
  if (!step) {
    if (answer.kind === 'unfinished')
      out.push('the budget was spent before anything was found: raise --budget');
    return textOf(out);
  }
  const { before, after, inevitable } = step;
  const isNarrow = after.unit - before.unit <= 1;
  const where = isNarrow
    ? `at unit ${number(before.unit)}`
    : `between the units ${number(before.unit)} and ${number(after.unit)}`;
  out.push(`the failure became ${answer.kind === 'decided' ? 'inevitable' : 'likely'} ${where}`);
  out.push(`  before: ${shareText(before)}`, `  after:  ${shareText(after)}`);
  if (answer.kind === 'gradual')
    out.push(`and inevitable up to unit ${number(inevitable.unit)}`, `  there:  ${shareText(inevitable)}`);
  if (answer.kind === 'unfinished')
    out.push('the budget was spent before it was clear where: raise --budget');
  out.push('');
  const { parting } = step;
  if (parting === null)
    out.push('a fork that does not fail is the same run for long: no event tells them apart');
  else out.push(`the run and a fork that does not fail are equal up to unit ${number(parting)}`, '');
  out.push(...sideOf('the run that fails', step.failing, view), ...sideOf('the fork', step.fork, view));
  out.push(`look around: kcovbox debug ${pathWord(path)} -x 'goto ${before.unit}' -x 'info threads'`);
  return textOf(out);
}

const textOf = (lines: readonly string[]): string => `${lines.map(line => visible(line)).join('\n')}\n`;

function tableOf(samples: readonly Sample[]): string[] {
  const units = samples.map(({ unit }) => number(unit));
  const width = Math.max(4, ...units.map(text => text.length));
  return [
    `${'unit'.padStart(width)}  forks that fail (95 % confidence)`,
    ...samples.map((sample, i) => {
      const { forks, fails, interval } = sample;
      const share = `${fails} of ${forks}`.padEnd(12);
      return `${units[i]!.padStart(width)}  ${share}${percent(fails / forks).padStart(5)}  (${percent(interval.low)} to ${percent(interval.high)})`;
    }),
  ];
}

function sideOf(who: string, side: Side<Call[]> | null, view: SourceView): string[] {
  if (!side) return [`${who}: no turn of a hart and no interrupt follows soon`, ''];
  const { unit, kind, from, to, cause, stops, goesOn } = side;
  const head = `${who}, unit ${number(unit)}:`;
  if (kind === 'interrupt') {
    const what = INTERRUPTS[cause ?? -1] ?? `interrupt ${cause}`;
    return [`${head} ${what} interrupts hart ${from} at`, ...callsOf(stops, view), ''];
  }
  return [
    `${head} hart ${from} stops in front of`,
    ...callsOf(stops, view),
    `  and hart ${to} goes on with`,
    ...callsOf(goesOn, view),
    '',
  ];
}

/** Calls with the source line of the innermost that has one. */
function callsOf(calls: readonly Call[], view: SourceView): string[] {
  const lines: string[] = [];
  let isShown = false;
  for (const [i, { function: name, file, line, pc, isInlined }] of calls.slice(0, FRAMES_SHOWN).entries()) {
    const place = file === '' ? pc : `${file}:${line}`;
    lines.push(
      `${INDENT}${i}  ${name} at ${place}${i === 0 && file !== '' ? ` (${pc})` : ''}${isInlined ? ' (inlined)' : ''}`,
    );
    const text: string | undefined = isShown ? undefined : view.line(file, line);
    if (text !== undefined) lines.push(`${INDENT}   ${text.trim()}`);
    isShown ||= text !== undefined;
  }
  if (calls.length > FRAMES_SHOWN)
    lines.push(`${INDENT}... and ${counted(calls.length - FRAMES_SHOWN, 'more call')}`);
  return lines;
}
