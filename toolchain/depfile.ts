/**
 * The files that `-MD` listed: "target: a b \\\n c". As make reads them, clang writes `$$` for a
 * dollar, `\#` for a number sign, and before a blank one backslash and those of the name twice.
 */
export function parseDepfile(text: string): string[] {
  const list = text.slice(text.search(/:\s/) + 1).replaceAll('\\\n', ' ');
  const words = list.match(/(?:\\+ |\S)+/g) ?? [];
  return words.map(word =>
    word
      .replaceAll('$$', '$')
      .replaceAll('\\#', '#')
      .replace(/(\\*)\\ /g, (_, before: string) => `${before.slice(before.length / 2)} `),
  );
}
