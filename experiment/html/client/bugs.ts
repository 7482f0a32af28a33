/** Bugs: when trials found them, as survival curves, and each find with its capsule. */
import type { BugReport, ExperimentReport } from '../../report/shape.ts';
import { colourOf, h, redraw, table } from './dom.ts';
import { type Line, plot } from './plot.ts';
import { grouped, pText } from './words.ts';

/** Steps of all variants on one x axis. */
function linesOf({ variants }: BugReport, x: readonly number[], start: number): Line[] {
  return variants.map(({ variant, steps }, i) => {
    const at = (time: number, part: 'share' | 'low' | 'high'): number => {
      let value = 1;
      for (const step of steps) if (step.time <= time && time >= start) value = step[part];
      return value;
    };
    return {
      label: variant,
      colour: colourOf(i),
      values: x.map(time => at(time, 'share')),
      band: { low: x.map(time => at(time, 'low')), high: x.map(time => at(time, 'high')) },
    };
  });
}

const percent = (value: number): string => `${Math.round(value * 100)} %`;

function bugPart(report: ExperimentReport, bug: BugReport): HTMLElement {
  const times = new Set([
    0,
    report.end,
    ...bug.variants.flatMap(({ steps }) => steps.map(({ time }) => time)),
  ]);
  const x = [...times].filter(time => time <= report.end).sort((a, b) => a - b);
  const host = h('div', { class: 'plot' });
  requestAnimationFrame(() =>
    redraw(() =>
      plot(host, {
        x,
        lines: linesOf(bug, x, 0),
        xLabel: report.axis,
        yLabel: 'trials that have not found it',
        isLog: false,
        yRange: [0, 1.02],
        yText: percent,
      }),
    ),
  );
  const rows = bug.variants.map(({ variant, found, of, medianTime }) => {
    const test = bug.tests.find(one => one.variant === variant);
    return [
      variant,
      `${found} of ${of}`,
      medianTime === null ? 'not within the budget' : grouped(medianTime),
      test ? test.chiSquare.toFixed(2) : '',
      test ? pText(test.p) : variant === report.baseline ? 'baseline' : '',
      test ? h('b', { class: test.corrected < 0.05 ? 'clear' : '' }, pText(test.corrected)) : '',
    ];
  });
  return h(
    'div',
    { class: 'bug' },
    h('h3', {}, bug.bug),
    h('p', { class: 'soft' }, `Found when ${bug.pattern}.`),
    host,
    table(['variant', 'found', `half by (${report.axis})`, 'chi-square', 'p', "p (Holm's)"], rows),
  );
}

export function bugsSection(report: ExperimentReport): HTMLElement | undefined {
  if (report.bugs.length === 0) return undefined;
  return h(
    'section',
    { id: 'bugs' },
    h('h2', {}, 'Bugs'),
    report.bugs.map(bug => bugPart(report, bug)),
    h(
      'p',
      { class: 'soft' },
      'Curves of Kaplan and Meier with intervals of 95 % (log-log); a trial that did not find a bug leaves the ' +
        'curve where its budget ends. p is of the log-rank test against the baseline.',
    ),
  );
}

export function findsSection({ finds }: ExperimentReport): HTMLElement | undefined {
  if (finds.length === 0) return undefined;
  const rows = finds.map(({ trial, bug, execution, instructions, line, file, images }) => [
    trial,
    bug,
    grouped(execution),
    grouped(instructions),
    line === '' ? '' : h('code', {}, line),
    file.endsWith('.kcapsule')
      ? [
          h('a', { href: file }, 'capsule'),
          ' ',
          h('code', { class: 'command' }, `kcovbox replay ${file} ${images.join(' ')}`),
        ]
      : h('a', { href: file }, 'program'),
  ]);
  return h(
    'section',
    { id: 'finds' },
    h('h2', {}, 'Which trial found what'),
    h(
      'details',
      { ...(finds.length <= 12 && { open: '' }) },
      h('summary', {}, `${finds.length} finds, each with a file that repeats it`),
      table(['trial', 'bug', 'execution', 'instructions', 'line', 'repeat it in this folder'], rows),
    ),
  );
}
