// C as a list of tokens, for the mutator, the limits of style and the search for copies. Comments
// and preprocessor lines are left out; neither of the three needs what they say.

export interface Token {
  readonly text: string;
  /** Offset in the source. */
  readonly at: number;
  readonly kind: 'name' | 'number' | 'string' | 'sign';
}

const SKIPPED = String.raw`\s+|//[^\n]*|/\*[\s\S]*?(?:\*/|$)|(?<=^|\n)[ \t]*#(?:\\\n|[^\n])*`;
const NAME = String.raw`[A-Za-z_]\w*`;
const NUMBER = String.raw`\.?\d(?:[eEpP][+-]|[\w.])*`;
const STRING = String.raw`"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?`;
const SIGN = String.raw`<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[\s\S]`;
const TOKEN = new RegExp(`(${SKIPPED})|(${NAME})|(${NUMBER})|(${STRING})|(${SIGN})`, 'g');

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  for (const { 0: text, 1: skipped, 2: name, 3: number, 4: string, index: at } of source.matchAll(TOKEN)) {
    if (skipped !== undefined) continue;
    tokens.push({ text, at, kind: name ? 'name' : number ? 'number' : string ? 'string' : 'sign' });
  }
  return tokens;
}

export interface CFunction {
  readonly name: string;
  /** Tokens of the body, the braces included: [first, behind the last). */
  readonly first: number;
  readonly last: number;
}

/** Index of the token that closes the bracket at `open`; the end where there is none. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { text, kind } = tokens[i]!;
    if (kind !== 'sign') continue;
    if ('([{'.includes(text)) depth++;
    if (')]}'.includes(text) && --depth === 0) return i;
  }
  return tokens.length;
}

/** The functions that a file defines: `name ( ... ) {` outside of other braces. */
export function functionsOf(tokens: readonly Token[]): CFunction[] {
  const functions: CFunction[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const { text, kind } = tokens[i]!;
    if (kind === 'sign' && text === '{') i = closing(tokens, i);
    if (kind !== 'name' || tokens[i + 1]?.text !== '(') continue;
    const end = closing(tokens, i + 1);
    if (tokens[end + 1]?.text !== '{') continue;
    const last = closing(tokens, end + 1) + 1;
    functions.push({ name: text, first: end + 1, last });
    i = last - 1;
  }
  return functions;
}

/** Line of an offset, from 1. */
export const lineAt = (source: string, at: number): number => source.slice(0, at).split('\n').length;
