/** `kcovbox run --cover -`: annotated source of the code that a run covered. */

import type { Elf } from '../elf/elf.ts';
import { Coverage } from '../model/coverage.ts';
import type { Trace } from '../trace/trace.ts';
import { annotateCoverage, type Palette, PLAIN, summaryLines } from './report.ts';

/** Text ready to print. `readSource` gets paths as the compiler wrote them, cleaned of `./`. */
export function annotate(
  trace: Trace,
  elf: Elf,
  readSource: (path: string) => string | undefined,
  palette: Palette = PLAIN,
): string {
  return annotatedText(Coverage.of(trace, elf), readSource, palette);
}

/** The same for a coverage that was counted already. */
export function annotatedText(
  coverage: Coverage,
  readSource: (path: string) => string | undefined,
  palette: Palette = PLAIN,
): string {
  const lines = [...annotateCoverage(coverage, readSource, palette), ...summaryLines(coverage, palette)];
  return `${lines.join('\n')}\n`;
}
