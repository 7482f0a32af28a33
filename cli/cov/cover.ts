// Writes the coverage of a run: its output, and the location of sources.
import {
  annotatedText,
  Coverage,
  type Elf,
  type ExactCounts,
  exportCoverage,
  exportTrace,
  KIND_PC,
  proofOf,
  type Trace,
} from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { wholeProgramOf } from '../../host/analysed.ts';
import { sourceRootOf, syscallName } from '../../host/sources.ts';
import { packageRoot, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeChunks } from '../io/output.ts';
import { openSources } from './files.ts';
import type { CoverFormat } from './formats.ts';

/** A coverage file without records would show 0 %, and the user would have to guess why. */
export function warnIfEmpty(trace: Trace, target: string, why: string): void {
  if (trace.records.length > 0) return;
  tell(`kcovbox: ${target === '-' ? 'the trace' : target} has no records: ${why}\n`);
}

/** Formats with counts alone. Their readers take all that is not listed for lines without code. */
const OF_COUNTS: readonly CoverFormat[] = ['lcov', 'cobertura'];

/** A trace that proves of no line that it did not run shows 100 % in a format of counts. */
export function warnIfUnproven(trace: Trace, target: string, format: CoverFormat): void {
  if (!OF_COUNTS.includes(format) || trace.records.length === 0 || trace.header.filtered) return;
  const name = target === '-' ? 'the output' : visible(target);
  if (!trace.pointKind.includes(KIND_PC))
    tell(`kcovbox: ${name} lists no line: the trace has comparisons only\n`);
  else if (!proofOf(trace).absence)
    tell(`kcovbox: ${name} lists only lines that ran: the trace does not show which others did not\n`);
}

/** Writes `trace` of a kernel. */
export async function writeCoverage(
  target: string,
  format: CoverFormat,
  trace: Trace,
  elf: Elf,
  title: string,
): Promise<void> {
  const readSource = openSources({}, elf.bytes);
  const root = sourceRootOf(elf.bytes) ?? { sourceRoot: packageRoot() };
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) || 0;
  warnIfUnproven(trace, target, format);
  const whole = wholeProgramOf(elf);
  const chunks =
    format === 'source'
      ? [new TextEncoder().encode(annotatedText(Coverage.of(trace, elf, {}, whole), readSource))]
      : exportTrace(format, trace, elf, { readSource, syscallName, title, epoch, whole, ...root });
  await writeChunks(target, chunks);
}

/** Formats that need records; a count of retired instructions has none. */
const OF_RECORDS: readonly CoverFormat[] = ['kcov', 'raw', 'rawcover', 'csv', 'drcov', 'modoff'];

/** Refuses a format that `--exact` cannot write, before the run. */
export function checkExactFormat(target: string, format: CoverFormat): void {
  if (OF_RECORDS.includes(format))
    throw new UserError(
      `--exact --cover ${target}: format ${format} holds records; use .info, .xml, .json, .jsonl or .html`,
    );
}

/** Writes the retired instructions of an image. */
export async function writeExact(
  target: string,
  format: CoverFormat,
  exact: ExactCounts,
  elf: Elf,
  title: string,
): Promise<void> {
  const coverage = Coverage.exact(elf, exact, title, wholeProgramOf(elf));
  const read = openSources({}, elf.bytes);
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) || 0;
  const chunks =
    format === 'source'
      ? [new TextEncoder().encode(annotatedText(coverage, read))]
      : exportCoverage(format, coverage, {
          readSource: read,
          syscallName,
          title,
          epoch,
          ...sourceRootOf(elf.bytes),
        });
  await writeChunks(target, chunks);
}
