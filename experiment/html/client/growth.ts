/** Coverage over time: the median of each variant with its band, or every trial. */
import { type ExperimentReport, METRICS, type Metric } from '../../report/shape.ts';
import { choices, colourOf, h, redraw } from './dom.ts';
import { type Line, plot } from './plot.ts';

export function growthSection(report: ExperimentReport): HTMLElement {
  const host = h('div', { class: 'plot' });
  let metric: Metric = 'points';
  let shows = 'medians';
  let isLog = true;
  const linesOf = (): Line[] =>
    report.variants.flatMap(({ name, bands, values }, i): Line[] => {
      const colour = colourOf(i);
      const band = bands[metric];
      if (band.length === 0) return [];
      const middle = { label: name, colour, values: band.map(({ median }) => median) };
      if (shows === 'trials')
        return [...values[metric].map(row => ({ label: name, colour, values: row, isFaint: true })), middle];
      const edges = { low: band.map(({ low }) => low), high: band.map(({ high }) => high) };
      return [{ ...middle, band: edges }];
    });
  const draw = (): void =>
    plot(host, {
      x: report.grid,
      lines: linesOf(),
      xLabel: report.axis,
      yLabel: `${metric} of the kernel covered`,
      isLog,
    });
  const section = h(
    'section',
    { id: 'growth' },
    h('h2', {}, 'Coverage over time'),
    h(
      'div',
      { class: 'controls' },
      choices('What is counted', METRICS, name => {
        metric = name as Metric;
        draw();
      }),
      choices('Lines', ['medians', 'trials'], name => {
        shows = name;
        draw();
      }),
      choices('Scale', ['log', 'linear'], name => {
        isLog = name === 'log';
        draw();
      }),
    ),
    host,
    h(
      'p',
      { class: 'soft' },
      `Median of the trials, and the interval of 95 % of its bootstrap, at each number of ${report.axis}.`,
    ),
  );
  requestAnimationFrame(() => redraw(draw));
  return section;
}
