// A bench report as text for people and as an SVG picture for the documents.

import { costOf, geometricMean, type Report, type Row, ratio } from './bench.ts';
import { AGAIN, ENGINES, NOT_FOR_IT, OURS } from './engines.ts';
import { SYSTEM_GOALS } from './system/phases.ts';

const fixed = (value: number | undefined, digits: number): string =>
  value === undefined ? '-' : value.toFixed(digits);

const OWN_TABLE = (row: Row): boolean => row.workload.kcov !== undefined;

/** "1.85", "1.12 (missed)": a figure and its goal; `isLess` if smaller is better. */
function judged(value: number | undefined, must: number | undefined, isLess = false): string {
  const isMissed = value !== undefined && must !== undefined && (isLess ? value > must : value < must);
  return fixed(value, 2) + (isMissed ? ' (missed)' : '');
}

const enginesOf = (rows: readonly Row[]): readonly string[] =>
  ENGINES.map(e => e.name).filter(name => rows.some(row => row.cells[name]?.seconds !== undefined));

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, ['---', ...head.slice(1).map(() => '---:')], ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n');

/** CPU seconds of each engine, our ratios to QEMU, and the goal; those of the mean are given. */
function mainTable(rows: readonly Row[], { must, aim }: { must?: number; aim?: number }): string {
  const engines = enginesOf(rows);
  const judgedOnes = engines.includes(AGAIN) ? [OURS, AGAIN] : [OURS];
  const lines = rows.map(row => {
    const { title, must, aim } = row.workload;
    const seconds = engines.map(name => fixed(row.cells[name]?.seconds, 2));
    const ratios = judgedOnes.map(name => judged(ratio(row, name), must));
    return [title, ...seconds, ...ratios, fixed(must, 1), fixed(aim, 1)];
  });
  const means = judgedOnes.map(name => judged(geometricMean(rows.map(row => ratio(row, name))), must));
  lines.push(['geometric mean', ...engines.map(() => ''), ...means, fixed(must, 1), fixed(aim, 1)]);
  const heads = judgedOnes.map(name => (name === AGAIN ? 'again x qemu' : 'x qemu'));
  return markdown(['workload', ...engines, ...heads, 'must', 'aim'], lines);
}

/** The work of the JIT in each system workload. */
function figuresTable(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ workload, cells, figures }) => {
    if (!figures) return [];
    const { instructions, compiledShare, compiled, regions, modules, dropped, evicted } = figures;
    const millions = instructions / 1e6;
    const seconds = cells[OURS]?.seconds;
    return [
      [
        ...[workload.name, fixed(millions, 0), fixed(seconds && millions / seconds, 0)],
        ...[fixed(100 * compiledShare, 0), `${compiled}`, `${regions}`, `${modules}`],
        ...[fixed(figures.bytesPerInsn, 0), fixed(figures.microsPerInsn, 0), `${dropped}`, `${evicted}`],
      ],
    ];
  });
  const head = ['system', 'million instructions', 'MIPS', '% compiled', 'compiled', 'regions', 'modules'];
  return markdown([...head, 'bytes each', 'us each', 'dropped', 'evicted'], lines);
}

/**
 * The traced workloads: the cost of recording on each of our engines, and the ratio to QEMU, which
 * runs the hooks in C.
 */
function kcovTable(report: Report, rows: readonly Row[]): string {
  const engines = enginesOf(rows);
  const lines = rows.map(row => {
    const { title, must, cost } = row.workload;
    const seconds = engines.map(name => fixed(row.cells[name]?.seconds, 2));
    const own = judged(costOf(report, row, OURS), cost?.must, true);
    return [title, ...seconds, own, fixed(cost?.must, 1), judged(ratio(row, OURS), must), fixed(must, 1)];
  });
  return markdown(['the mix', ...engines, 'x elided', 'must', 'x qemu', 'must'], lines);
}

/** Of the mean: a program of the user's has none. */
const goalsOf = (systems: readonly Row[]): { must?: number; aim?: number } =>
  systems.some(({ workload }) => workload.must !== undefined) ? SYSTEM_GOALS : {};

/** Markdown: the tables, the machine, and why cells are empty. */
export function reportTable(report: Report): string {
  const systems = report.rows.filter(row => row.workload.system);
  const main = report.rows.filter(row => !OWN_TABLE(row) && !row.workload.system);
  const traced = report.rows.filter(OWN_TABLE);
  const { cpu, cores, os, node, v8 } = report.machine;
  const notes = report.rows.flatMap(row =>
    Object.entries(row.cells).flatMap(([name, cell]) =>
      cell.note && cell.note !== NOT_FOR_IT ? [`${row.workload.name}, ${name}: ${cell.note}`] : [],
    ),
  );
  const scaled = ENGINES.filter(e => e.share && enginesOf(main).includes(e.name)).map(
    e => `${e.name} ran ${e.share! * 100} % of the work; its seconds are scaled.`,
  );
  return [
    ...(main.length > 0 ? [mainTable(main, { must: 2, aim: 3.5 }), ''] : []),
    ...(systems.length > 0 ? [mainTable(systems, goalsOf(systems)), ''] : []),
    ...(systems.some(({ figures }) => figures) ? [figuresTable(systems), ''] : []),
    ...(traced.length > 0 ? [kcovTable(report, traced), ''] : []),
    `CPU seconds between the marks, median of ${report.rounds}; ${cpu}, ${cores} cores, ${os}, Node ${node}, V8 ${v8}.`,
    ...scaled,
    ...notes,
  ].join('\n');
}

const BAR = 14;
const WIDTH = 720;
/** Titles end at 290; the longest label, such as "12345.67x", has 80. */
const BARS = { from: 300, to: WIDTH - 90 };
/** Of a doubling, if the longest bars allow it. */
const SCALE_MAX = 60;

/** Bars of the ratio to QEMU on a logarithmic axis, with a line at QEMU itself. */
export function reportSvg(report: Report): string {
  const rows = report.rows.flatMap(row => {
    const times = ratio(row, OURS);
    return times === undefined ? [] : [{ title: row.workload.title, times }];
  });
  const height = rows.length * (BAR + 8) + 50;
  const doublings = rows.map(({ times }) => Math.log2(times));
  const [least, most] = [Math.min(-1, ...doublings), Math.max(1, ...doublings)];
  const scale = Math.min(SCALE_MAX, (BARS.to - BARS.from) / (most - least));
  const x = (times: number): number => BARS.from + scale * (Math.log2(times) - least);
  const bars = rows.map(({ title, times }, i) => {
    const y = 30 + i * (BAR + 8);
    const [from, to] = [Math.min(x(1), x(times)), Math.max(x(1), x(times))];
    return (
      `<text x="${BARS.from - 10}" y="${y + 11}" text-anchor="end">${title.replaceAll('&', '&amp;')}</text>` +
      `<rect x="${from.toFixed(1)}" y="${y}" width="${(to - from).toFixed(1)}" height="${BAR}" class="${times >= 1 ? 'fast' : 'slow'}"/>` +
      `<text x="${(to + 6).toFixed(1)}" y="${y + 11}">${times.toFixed(2)}x</text>`
    );
  });
  const style =
    'text{font:12px system-ui,sans-serif;fill:#444}.fast{fill:#3b7a57}.slow{fill:#b5523b}line{stroke:#999}' +
    '@media(prefers-color-scheme:dark){text{fill:#bbb}}';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" role="img">` +
    '<title>kcovbox against QEMU TCG</title>' +
    `<style>${style}</style><text x="${x(1)}" y="18" text-anchor="middle">QEMU TCG = 1</text>` +
    `<line x1="${x(1)}" x2="${x(1)}" y1="24" y2="${height - 20}"/>${bars.join('')}</svg>\n`
  );
}
