/** Types of setup/vitest.mjs for its test. */
interface Tally {
  passed: number;
  skipped: number;
  failures: { file?: string; name: string; message: string[] }[];
  files: { file: string; seconds: number }[];
}
export function vitest(
  node: string,
  args: readonly string[],
  options?: { cwd?: string; stdio?: 'inherit' | 'ignore' },
): Tally;
export function failureLines(runs: readonly (Pick<Tally, 'failures'> & { where: string })[]): string[];
export function slowestLines(
  runs: readonly (Pick<Tally, 'files'> & { where: string })[],
  count?: number,
): string[];
