/** The files that `-MD` listed: "target: a b \\\n c". */
export function parseDepfile(text: string): string[] {
  return text
    .slice(text.indexOf(':') + 1)
    .replaceAll('\\\n', ' ')
    .split(/(?<!\\)\s+/)
    .filter(Boolean)
    .map(path => path.replaceAll('\\ ', ' '));
}
