/** The values at the end of all trials: one mark each, the median, and the tests. */
import { type Comparison, type ExperimentReport, METRICS, type Metric } from '../../report/shape.ts';
import { choices, h, svg, table } from './dom.ts';
import { grouped, magnitude, pText } from './words.ts';

const ROW = 46;
const LEFT = 8;
const WIDTH = 720;
const TOP = 24;

const median = (sorted: readonly number[]): number =>
  (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;

/** Marks of equal values stand above one another. */
function strips({ variants }: ExperimentReport, metric: Metric): SVGElement {
  const all = variants.flatMap(({ finals }) => finals[metric]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const span = Math.max(1, high - low);
  const at = (value: number): number => LEFT + 10 + ((value - low) / span) * (WIDTH - 2 * LEFT - 20);
  const height = TOP + variants.length * ROW + 26;
  const rows = variants.map(({ name, finals }, i) => {
    const middle = TOP + i * ROW + ROW / 2 + 6;
    const sorted = [...finals[metric]].sort((a, b) => a - b);
    const seen = new Map<number, number>();
    const marks = sorted.map(value => {
      const count = seen.get(value) ?? 0;
      seen.set(value, count + 1);
      const side = count % 2 === 0 ? 1 : -1;
      const y = middle + side * Math.ceil(count / 2) * 2.4;
      return svg('circle', { cx: at(value), cy: y, r: 3.6, class: `series-${i % 8}` });
    });
    const line =
      sorted.length > 0
        ? svg('line', { x1: at(median(sorted)), x2: at(median(sorted)), y1: middle - 13, y2: middle + 13 })
        : undefined;
    const label = svg('text', { x: LEFT, y: middle - 15 }, name);
    return svg('g', {}, label, line, marks);
  });
  const ends = [
    svg('text', { x: at(low), y: height - 6 }, grouped(low)),
    svg('text', { x: at(high), y: height - 6, 'text-anchor': 'end' }, high > low ? grouped(high) : ''),
  ];
  const title = `${metric} at the end of each trial`;
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, class: 'strips', role: 'img', 'aria-label': title },
    rows,
    ends,
  );
}

const testRow = ({ variant, baseline, metric, a12, low, high, u, p, corrected, method }: Comparison) => [
  `${variant} vs ${baseline}`,
  metric,
  h('b', {}, a12.toFixed(2)),
  `${low.toFixed(2)} to ${high.toFixed(2)}`,
  magnitude(a12),
  grouped(u),
  pText(p),
  h('b', { class: corrected < 0.05 ? 'clear' : '' }, pText(corrected)),
  method,
];

export function finalsSection(report: ExperimentReport): HTMLElement {
  const host = h('div', {}, strips(report, 'points'));
  return h(
    'section',
    { id: 'finals' },
    h('h2', {}, `At the end: ${report.budget}`),
    h(
      'div',
      { class: 'controls' },
      choices('What is counted', METRICS, name => host.replaceChildren(strips(report, name as Metric))),
    ),
    host,
    report.comparisons.length === 0
      ? undefined
      : table(
          ['variants', 'of', 'A12', '95 %', 'size', 'U', 'p', "p (Holm's)", 'method'],
          report.comparisons.map(testRow),
        ),
    h(
      'p',
      { class: 'soft' },
      'A12 is the probability that a trial of the first variant covers more than one of the second; 0.5 is no ' +
        'difference (Vargha and Delaney; interval by Newcombe). p is of the two-sided Mann-Whitney U test, ',
      "corrected by Holm's method over all rows of this table.",
    ),
  );
}
