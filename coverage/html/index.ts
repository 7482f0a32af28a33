/**
 * The HTML report: one file with everything inside, no network, the same bytes for the same input.
 * It works from file://, without a server, in light and dark, and from the keyboard. client/ is the
 * program of the page; setup/client.mjs bundles it.
 */
import { xmlText } from '../export/cobertura.ts';
import { type ExportOptions, encodeChunks } from '../export/common.ts';
import type { Coverage } from '../model/coverage.ts';
import { DARK_STYLE, SCRIPT, STYLE } from './client.generated.ts';
import { type PageData, pageData } from './data.ts';

/**
 * JSON that may stand inside a script element: no `<`, and no line separators that old parsers trip
 * over.
 */
const safeJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');

const VIEWS = [
  ['files', 'Files'],
  ['functions', 'Functions'],
  ['calls', 'Calls'],
  ['tests', 'Tests'],
  ['compare', 'Compare'],
] as const;

/** The page's frame; client/ fills `main`. */
function* frame(title: string): Generator<string> {
  yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n';
  yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n';
  yield `<title>${xmlText(title)}</title>\n<style>${STYLE}</style>\n`;
  yield `<style id="dark" media="(prefers-color-scheme: dark)">${DARK_STYLE}</style>\n</head>\n<body>\n`;
  yield '<a class="skip" href="#main">Skip to content</a>\n<header>\n';
  yield `<a class="brand" href="#/">${xmlText(title)}</a>\n<nav aria-label="Views">`;
  for (const [view, name] of VIEWS)
    yield `<a href="#/${view === 'files' ? '' : view}" data-view="${view}">${name}</a>`;
  yield '</nav>\n<span class="space"></span>\n<div class="search" role="search">';
  yield '<input type="search" placeholder="Search files, functions, text" aria-label="Search" ';
  yield 'role="combobox" aria-expanded="false" aria-controls="found" autocomplete="off">';
  yield '<ul id="found" role="listbox" aria-label="Found" hidden></ul></div>\n<button type="button" id="theme" ';
  yield 'title="Light or dark (t)" aria-label="Switch between light and dark">\u25d0</button>\n';
  yield '<button type="button" id="keys" title="Keys (?)" aria-label="Keyboard help">?</button>\n</header>\n';
  yield '<main id="main" tabindex="-1"><noscript>A script inside this file draws the report; ';
  yield 'allow scripts to read it.</noscript></main>\n<div class="pop" role="status" hidden></div>\n<dialog></dialog>\n';
}

/** The page of a coverage, in chunks. */
export function exportHtml(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  return htmlPage(pageData(coverage, options));
}

/** The page of data that was gathered before. */
export function htmlPage({ index, files, functions }: PageData): Iterable<Uint8Array> {
  function* pieces(): Generator<string> {
    yield* frame(index.title);
    yield `<script type="application/json" id="index">${safeJson(index)}</script>\n`;
    yield `<script type="application/json" id="functions">${safeJson(functions)}</script>\n`;
    // A line a file, so that the page parses only those that are looked at.
    yield '<script type="application/json" id="files">';
    for (const file of files) yield `${safeJson(file)}\n`;
    yield `</script>\n<script>${SCRIPT}</script>\n</body>\n</html>\n`;
  }
  return encodeChunks(pieces());
}
