// The report of an experiment as one HTML file: no network, no server, the same bytes for the same
// results. client/ is its program; setup/client.mjs bundles it.
import type { ExperimentReport } from '../report/shape.ts';
import { DARK_STYLE, SCRIPT, STYLE } from './client.generated.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** JSON that may stand inside a script element. */
const safeJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');

const SECTIONS = [
  ['growth', 'Coverage'],
  ['finals', 'At the end'],
  ['bugs', 'Bugs'],
  ['functions', 'Functions'],
] as const;

export function reportPage(report: ExperimentReport): string {
  const links = SECTIONS.filter(([id]) => id !== 'bugs' || report.bugs.length > 0).map(
    ([id, name]) => `<a href="#${id}">${name}</a>`,
  );
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(report.name)}</title>\n<style>${STYLE}</style>`,
    `<style id="dark" media="(prefers-color-scheme: dark)">${DARK_STYLE}</style>\n</head>\n<body>`,
    `<header>${links.join('\n')}<span class="space"></span>`,
    '<button type="button" id="theme" aria-label="Switch between light and dark">\u25d0</button></header>',
    '<main><noscript>A script inside this file draws the report; allow scripts to read it.</noscript></main>',
    `<script type="application/json" id="data">${safeJson(report)}</script>`,
    `<script>${SCRIPT}</script>\n</body>\n</html>\n`,
  ].join('\n');
}
