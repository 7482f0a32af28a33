// Limits of style: what can be counted, and nothing that is a matter of taste.
import { functionsOf, lineAt, tokensOf } from './tokens.ts';

export interface StyleLimits {
  readonly columns: number;
  readonly lines: number;
}

/** One line for each place that breaks a limit. */
export function styleFaults(name: string, source: string, { columns, lines }: StyleLimits): string[] {
  const faults: string[] = [];
  for (const [i, line] of source.split('\n').entries()) {
    const width = [...line.replaceAll('\t', '        ')].length;
    if (width > columns) faults.push(`${name}:${i + 1} has ${width} columns, ${columns} are allowed`);
    if (/[ \t]$/.test(line)) faults.push(`${name}:${i + 1} ends in blanks`);
  }
  const tokens = tokensOf(source);
  for (const { name: fn, first, last } of functionsOf(tokens)) {
    const from = lineAt(source, tokens[first]!.at);
    const to = lineAt(source, (tokens[last - 1] ?? tokens.at(-1)!).at);
    const length = to - from + 1;
    if (length > lines) faults.push(`${name}:${from} ${fn} has ${length} lines, ${lines} are allowed`);
  }
  return faults;
}
