/** `kcovbox run --cover -`: annotated source of the code that a run covered. */

import type { Coverage } from '../model/coverage.ts';
import { annotateCoverage, type Palette, PLAIN, summaryLines } from './report.ts';

/** Text ready to print. `readSource` gets paths as the compiler wrote them, cleaned of `./`. */
export function annotatedText(
  coverage: Coverage,
  readSource: (path: string) => string | undefined,
  palette: Palette = PLAIN,
): string {
  const lines = [...annotateCoverage(coverage, readSource, palette), ...summaryLines(coverage, palette)];
  return `${lines.join('\n')}\n`;
}
