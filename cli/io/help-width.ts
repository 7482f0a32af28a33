// The texts below the options of a help page, in the width of the terminal: commander breaks its
// own lines, but not these. Examples stay whole, so that they can be copied.

/** A line that stands above a list: `Examples:`. */
const isHeading = (line: string): boolean => /^\S.{0,60}:$/.test(line);
const isProse = (line: string): boolean => /^\S/.test(line) && !isHeading(line);

/** Words in lines of at most `width` columns; all but the first line begin with `indent`. */
function wrap(words: readonly string[], width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line.trimEnd());
      line = indent + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Of the text of a row whose name leaves too little room beside it. */
const INDENT = ' '.repeat(8);

/** A row of a list, `  NAME  text`: further lines of its text stand below its first. */
function wrapRow(row: string, width: number): string[] {
  const [, head = '', text = row] = /^(\s+(?:\S+ )*\S+\s{2,}|\s+)(\S.*)$/.exec(row) ?? [];
  const [first = '', ...rest] = text.split(' ');
  const room = width - head.length;
  if ([first, ...rest].some(word => word.length > room)) {
    const lines = wrap([INDENT + first, ...rest], width, INDENT);
    return head.trim() === '' ? lines : [head.trimEnd(), ...lines];
  }
  // A row of options has no text to stand below.
  const hang = text.startsWith('-') ? /^\s*/.exec(head)![0] : ' '.repeat(head.length);
  return wrap([head + first, ...rest], width, hang);
}

/** The text with its paragraphs and lists in `width` columns, where they are wider. */
export function foldHelp(text: string, width: number): string {
  const out: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    const isWide = paragraph.some(line => line.length > width);
    out.push(...(isWide ? wrap(paragraph.join(' ').split(' '), width) : paragraph));
    paragraph = [];
  };
  let isExample = false;
  for (const line of text.split('\n')) {
    if (isProse(line)) {
      paragraph.push(line);
      isExample = false;
      continue;
    }
    endParagraph();
    if (isHeading(line)) isExample = /^Examples?:$/.test(line);
    out.push(...(line.length > width && !isExample ? wrapRow(line, width) : [line]));
  }
  endParagraph();
  return out.join('\n');
}
