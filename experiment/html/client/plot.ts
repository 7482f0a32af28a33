/**
 * Line charts of the report, by uPlot: steps, a logarithmic x axis, bands, and a legend with
 * values.
 */
import uPlot from 'uplot';
import { ink } from './dom.ts';
import { short } from './words.ts';

export interface Line {
  readonly label: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** Thin, without a label: one of many. */
  readonly isFaint?: boolean;
  readonly band?: { readonly low: readonly (number | null)[]; readonly high: readonly (number | null)[] };
}

export interface PlotOptions {
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly isLog: boolean;
  readonly yRange?: [number, number];
  readonly yText?: (value: number) => string;
}

const HEIGHT = 340;
const HEIGHT_NARROW = 260;
const NARROW = 560;

/** A colour of the style, `#rrggbb`, of which so much is seen. */
const translucent = (colour: string, share: number): string =>
  `${colour}${Math.round(share * 255)
    .toString(16)
    .padStart(2, '0')}`;

/** 1, 2, 5, 10 and so on inside the axis, and its two ends; labels must not touch. */
function ticksOf(x: readonly number[], isNarrow: boolean): number[] {
  const [first, last] = [x[0]!, x.at(-1)!];
  const steps: number[] = [];
  for (let decade = 1; decade <= last; decade *= 10) steps.push(decade, 2 * decade, 5 * decade);
  const apart = (last / first) ** (isNarrow ? 0.14 : 0.06);
  const inner = steps.filter(step => step > first * apart && step < last / apart);
  const kept: number[] = [first];
  for (const step of inner) if (step > kept.at(-1)! * apart) kept.push(step);
  return last > first ? [...kept, last] : kept;
}

/** Replaces what `host` shows. */
export function plot(host: HTMLElement, options: PlotOptions): void {
  host.replaceChildren();
  const { x, lines, isLog, yText = short } = options;
  const width = Math.max(280, host.clientWidth);
  const isNarrow = width < NARROW;
  const data: (readonly (number | null)[])[] = [x];
  const series: uPlot.Series[] = [{ label: options.xLabel, value: (_, v) => (v === null ? '' : short(v)) }];
  const bands: uPlot.Band[] = [];
  const paths = uPlot.paths.stepped!({ align: 1 });
  const add = (values: readonly (number | null)[], own: uPlot.Series): number => {
    data.push(values);
    return series.push({ paths, points: { show: false }, ...own }) - 1;
  };
  const hidden: number[] = [];
  for (const { label, colour, values, isFaint, band } of lines) {
    if (band) {
      const edge = { stroke: translucent(colour, 0.35), width: 1, label: '' };
      const high = add(band.high, edge);
      const low = add(band.low, edge);
      hidden.push(high, low);
      bands.push({ series: [high, low], fill: translucent(colour, 0.16) });
    }
    const own = add(values, {
      label,
      stroke: isFaint ? translucent(colour, 0.28) : colour,
      width: isFaint ? 1 : 2.25,
      value: (_, v) => (v === null || v === undefined ? '-' : yText(v)),
    });
    if (isFaint) hidden.push(own);
  }
  const axis = {
    stroke: ink('soft'),
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    grid: { stroke: ink('rule'), width: 1 },
    ticks: { stroke: ink('rule'), width: 1 },
  };
  const chart = new uPlot(
    {
      width,
      height: isNarrow ? HEIGHT_NARROW : HEIGHT,
      series,
      bands,
      cursor: { drag: { x: false, y: false } },
      legend: { live: true },
      scales: {
        x: { time: false, distr: isLog ? 3 : 1, range: (_, low, high) => [low, Math.max(high, low + 1)] },
        y: options.yRange ? { range: options.yRange } : {},
      },
      axes: [
        {
          ...axis,
          label: options.xLabel,
          space: isNarrow ? 46 : 60,
          ...(isLog && {
            splits: (_: uPlot) => ticksOf(x, isNarrow),
            filter: (_: uPlot, ticks: number[]) => ticks,
          }),
          values: (_, ticks) => ticks.map(tick => (tick === null ? '' : short(tick))),
        },
        { ...axis, label: options.yLabel, size: 58, values: (_, ticks) => ticks.map(yText) },
      ],
    },
    data as uPlot.AlignedData,
    host,
  );
  const rows = chart.root.querySelectorAll('.u-legend .u-series');
  for (const index of hidden) rows[index]?.remove();
}
