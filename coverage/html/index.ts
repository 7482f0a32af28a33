/**
 * The HTML report: one file with everything inside, no network, the same bytes for the same input. Works from file://, without a
 * server, in light and dark, and from the keyboard.
 */

import { xmlText } from '../export/cobertura.ts';
import { type ExportOptions, encodeChunks } from '../export/common.ts';
import type { Coverage } from '../model/coverage.ts';
import { pageData } from './data.ts';
import { SCRIPT } from './script.ts';
import { CALLS_SCRIPT } from './script-calls.ts';
import { STYLE } from './style.ts';

/** JSON that may stand inside a script element: no `<`, and no line separators that old parsers trip over. */
function* embeddedJson(data: ReturnType<typeof pageData>): Generator<string> {
  const safe = (value: unknown) =>
    JSON.stringify(value)
      .replaceAll('<', '\\u003c')
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029');
  const { files, ...rest } = data;
  yield safe(rest).slice(0, -1);
  yield ',"files":[';
  for (const [i, file] of files.entries()) yield `${i > 0 ? ',' : ''}\n${safe(file)}`;
  yield ']}';
}

export function exportHtml(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  const data = pageData(coverage, options);
  function* pieces(): Generator<string> {
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n';
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n';
    yield `<title>${xmlText(data.title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n`;
    yield '<a class="skip" href="#main">Skip to content</a>\n<header>\n';
    yield `<a class="brand" href="#/">${xmlText(data.title)}</a>\n`;
    yield '<nav aria-label="Views"><a href="#/">Files</a><a href="#/functions">Functions</a><a href="#/calls">Calls</a><a href="#/tests">Tests</a></nav>\n';
    yield '<span class="space"></span>\n<div class="search" role="search"><input type="search" placeholder="Search files, functions, text" aria-label="Search" ';
    yield 'role="combobox" aria-expanded="false" aria-controls="found" autocomplete="off"><ul id="found" role="listbox" hidden></ul></div>\n';
    yield '<button type="button" id="theme" title="Light or dark (t)" aria-label="Switch between light and dark">◐</button>\n';
    yield '<button type="button" id="keys" title="Keys (?)" aria-label="Keyboard help">?</button>\n</header>\n';
    yield '<main id="main" tabindex="-1"><noscript>This report is drawn by a script inside the file; allow scripts to read it.</noscript></main>\n';
    yield '<div class="pop" role="status" hidden></div>\n<dialog></dialog>\n<script type="application/json" id="data">';
    yield* embeddedJson(data);
    yield `</script>\n<script>${SCRIPT}${CALLS_SCRIPT}</script>\n</body>\n</html>\n`;
  }
  return encodeChunks(pieces());
}
