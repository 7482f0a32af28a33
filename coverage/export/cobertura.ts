/**
 * Cobertura XML (coverage-04.dtd): directory = package, file = class, function = method. Rates are
 * 0..1 with four decimals.
 */
import { byText } from '../base/bytes.ts';
import { addTotals, type Coverage, emptyTotals, type Share, type Totals } from '../model/coverage.ts';
import { hitsOf } from '../model/lines.ts';
import type { ProgramFile } from '../model/program.ts';
import { baseName, type ExportOptions, encodeChunks, unprefixed } from './common.ts';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 §2.2 forbids
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/**
 * Text for XML 1.0: markup escaped, characters that XML forbids replaced. A reader makes a blank of
 * a line feed or tab in an attribute (§3.3.3), unless it is a reference.
 */
export const xmlText = (text: string): string =>
  text.replace(FORBIDDEN, '?').replace(/[&<>"'\t\n\r]/g, c => ENTITIES[c]!);

const rate = ({ covered, total }: Share) => (total === 0 ? 0 : covered / total).toFixed(4);

function rates(totals: Totals): string {
  return `line-rate="${rate(totals.lines)}" branch-rate="0" complexity="0"`;
}

function* classOf(coverage: Coverage, file: ProgramFile, totals: Totals, path: string): Generator<string> {
  const name = xmlText(baseName(path));
  yield `        <class name="${name}" filename="${xmlText(path)}" ${rates(totals)}>\n          <methods>\n`;
  for (const fn of file.functions) {
    if (coverage.functionState(fn) === 'unknown') continue;
    const { hits } = coverage.functionCalls(fn);
    const share = { covered: coverage.coveredPoints(fn.points), total: fn.points.length };
    yield `            <method name="${xmlText(fn.name)}" signature="" line-rate="${rate(share)}" branch-rate="0" complexity="0">`;
    yield `<lines><line number="${fn.line}" hits="${hits}"/></lines></method>\n`;
  }
  yield '          </methods>\n          <lines>\n';
  for (const [line, code] of [...file.lines].sort(([a], [b]) => a - b)) {
    const verdict = coverage.line(code);
    if (verdict.state !== 'unknown' && coverage.program.hooks !== 'cmp')
      yield `            <line number="${line}" hits="${hitsOf(verdict)}"/>\n`;
  }
  yield '          </lines>\n        </class>\n';
}

export function exportCobertura(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  const packages = new Map<string, { file: ProgramFile; totals: Totals }[]>();
  for (const file of coverage.program.files) {
    if (file.path === '') continue;
    const slash = file.path.lastIndexOf('/');
    const directory = slash < 0 ? '.' : file.path.slice(0, slash) || '/';
    const list = packages.get(directory) ?? [];
    list.push({ file, totals: coverage.fileTotals(file) });
    packages.set(directory, list);
  }
  const whole = coverage.totals();
  function* pieces(): Generator<string> {
    const { covered, total } = whole.lines;
    yield '<?xml version="1.0" encoding="UTF-8"?>\n';
    yield '<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">\n';
    yield `<coverage line-rate="${rate(whole.lines)}" branch-rate="0" lines-covered="${covered}" lines-valid="${total}" `;
    yield `branches-covered="0" branches-valid="0" complexity="0" version="kcovbox" timestamp="${options.epoch ?? 0}">\n`;
    yield `  <sources>\n    <source>${xmlText(options.sourceRoot ?? '.')}</source>\n  </sources>\n  <packages>\n`;
    for (const [directory, files] of [...packages].sort(([a], [b]) => byText(a, b))) {
      const sum = emptyTotals();
      for (const { totals } of files) addTotals(sum, totals);
      yield `    <package name="${xmlText(directory)}" ${rates(sum)}>\n      <classes>\n`;
      for (const { file, totals } of files)
        yield* classOf(coverage, file, totals, unprefixed(file.path, options));
      yield '      </classes>\n    </package>\n';
    }
    yield '  </packages>\n</coverage>\n';
  }
  return encodeChunks(pieces());
}
