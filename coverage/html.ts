/** The HTML report. */
import { CoverageError } from './bytes.ts';
import type { Coverage } from './coverage.ts';
import type { ExportOptions } from './export-common.ts';

export function exportHtml(_coverage: Coverage, _options: ExportOptions): Iterable<Uint8Array> {
  throw new CoverageError('format html is not built yet');
}
