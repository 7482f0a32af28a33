// A bench report as text for people and as an SVG picture for the documents.

import { geometricMean, type Report, ratio } from './bench.ts';
import { ENGINES } from './engines.ts';

const OURS = 'kcovbox jit';
const fixed = (value: number | undefined, digits: number): string =>
  value === undefined ? '-' : value.toFixed(digits);

/** Markdown: CPU seconds of each engine, our ratio to QEMU, and what was promised. */
export function reportTable(report: Report): string {
  const engines = ENGINES.map(e => e.name).filter(name => report.rows.some(row => row.cells[name]));
  const lines = [
    `| workload | ${engines.join(' | ')} | x qemu | must | aim |`,
    `| --- |${' ---: |'.repeat(engines.length + 3)}`,
  ];
  for (const row of report.rows) {
    const { title, must, aim } = row.workload;
    const seconds = engines.map(name => fixed(row.cells[name]?.seconds, 3));
    const times = ratio(row, OURS);
    const met = times === undefined || must === undefined ? '' : times >= must ? '' : ' (missed)';
    lines.push(
      `| ${title} | ${seconds.join(' | ')} | ${fixed(times, 2)}${met} | ${fixed(must, 1)} | ${fixed(aim, 1)} |`,
    );
  }
  const mean = geometricMean(report.rows.map(row => ratio(row, OURS)));
  lines.push(`| geometric mean | ${engines.map(() => '').join(' | ')} | ${fixed(mean, 2)} | 2.0 | 3.5 |`);
  const { cpu, cores, os, node, v8 } = report.machine;
  lines.push(
    '',
    `CPU seconds between the marks, median of ${report.rounds}; ${cpu}, ${cores} cores, ${os}, Node ${node}, V8 ${v8}.`,
  );
  const notes = report.rows.flatMap(row =>
    Object.entries(row.cells).flatMap(([name, cell]) =>
      cell.note && cell.note !== 'only a whole system can run it'
        ? [`${row.workload.name}, ${name}: ${cell.note}`]
        : [],
    ),
  );
  return [...lines, ...notes].join('\n');
}

const BAR = 14;
const LEFT = 330;
const SCALE = 60;

/** Bars of the ratio to QEMU on a logarithmic axis, with a line at QEMU itself. */
export function reportSvg(report: Report): string {
  const rows = report.rows.flatMap(row => {
    const times = ratio(row, OURS);
    return times === undefined ? [] : [{ title: row.workload.title, times }];
  });
  const height = rows.length * (BAR + 8) + 50;
  const x = (times: number): number => LEFT + SCALE * Math.log2(times) + SCALE;
  const bars = rows.map(({ title, times }, i) => {
    const y = 30 + i * (BAR + 8);
    const [from, to] = [Math.min(x(1), x(times)), Math.max(x(1), x(times))];
    return (
      `<text x="${LEFT - 40}" y="${y + 11}" text-anchor="end">${title.replaceAll('&', '&amp;')}</text>` +
      `<rect x="${from.toFixed(1)}" y="${y}" width="${(to - from).toFixed(1)}" height="${BAR}" class="${times >= 1 ? 'fast' : 'slow'}"/>` +
      `<text x="${(to + 6).toFixed(1)}" y="${y + 11}">${times.toFixed(2)}x</text>`
    );
  });
  const style =
    'text{font:12px system-ui,sans-serif;fill:#444}.fast{fill:#3b7a57}.slow{fill:#b5523b}line{stroke:#999}' +
    '@media(prefers-color-scheme:dark){text{fill:#bbb}}';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="${height}" role="img"><title>kcovbox against QEMU TCG</title>` +
    `<style>${style}</style><text x="${x(1)}" y="18" text-anchor="middle">QEMU TCG = 1</text>` +
    `<line x1="${x(1)}" x2="${x(1)}" y1="24" y2="${height - 20}"/>${bars.join('')}</svg>\n`
  );
}
