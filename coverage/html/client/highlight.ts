/** Colours of C source. */
import { esc } from './dom.ts';

const KEYWORDS =
  'auto|break|case|const|continue|default|do|else|enum|extern|for|goto|if|inline|return|sizeof|static|struct|switch|typedef|' +
  'union|unsigned|signed|void|volatile|while|char|short|int|long|float|double|bool|u8|u16|u32|u64|size_t';
const WORDS = new RegExp(
  [
    '/\\*[\\s\\S]*?(?:\\*/|$)',
    '//.*',
    '"(?:[^"\\\\]|\\\\.)*"',
    "'(?:[^'\\\\]|\\\\.)*'",
    '^\\s*#\\s*\\w+',
    `\\b(?:${KEYWORDS})\\b`,
    '\\b(?:0x[0-9a-fA-F]+|\\d+)[uUlL]*\\b',
  ].join('|'),
  'g',
);
const COMMENT_END = /^[\s\S]*?\*\//;

function classOf(word: string): string {
  if (word.startsWith('/*') || word.startsWith('//')) return 'm';
  return /^["']/.test(word) ? 't' : /^\d/.test(word) ? 'd' : 'k';
}

/** HTML by line; a comment may stay open over lines. */
export function highlighted(lines: readonly string[]): string[] {
  let isOpen = false;
  return lines.map(text => {
    let line = text;
    let out = '';
    if (isOpen) {
      const end = COMMENT_END.exec(line);
      if (!end) return `<span class="m">${esc(line)}</span>`;
      out = `<span class="m">${esc(end[0])}</span>`;
      line = line.slice(end[0].length);
      isOpen = false;
    }
    let from = 0;
    for (const match of line.matchAll(WORDS)) {
      const [word] = match;
      out += esc(line.slice(from, match.index));
      if (word.startsWith('/*') && !word.endsWith('*/')) isOpen = true;
      out += `<span class="${classOf(word)}">${esc(word)}</span>`;
      from = match.index + word.length;
    }
    return out + esc(line.slice(from));
  });
}
