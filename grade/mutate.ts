// Faults, one at a time, in the functions of a C file: what a test suite should find. A mutant has
// a name that does not depend on where its function lies in the file.
import { type CFunction, closing, functionsOf, lineAt, type Token, tokensOf } from './tokens.ts';

export interface Mutant {
  /** `FUNCTION#N: WHAT`, N counting the faults of the function from 1. */
  readonly name: string;
  /** Of the source without the fault. */
  readonly line: number;
  readonly source: string;
}

/** A change of the text: [from, to) becomes `text`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

interface Fault {
  readonly what: string;
  readonly at: number;
  readonly edits: readonly Edit[];
}

/** The other operator; the off-by-one ones move a boundary by one. */
const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '==': '!=',
  '!=': '==',
  '&&': '||',
  '||': '&&',
  '<<': '>>',
  '>>': '<<',
  '+=': '-=',
  '-=': '+=',
};

/** With an operand on its left, + and - have two. */
const isOperand = (token: Token | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'number' || token.text === ')' || token.text === ']' || isVariable(token));
const KEYWORDS = new Set(['return', 'case', 'else', 'do', 'sizeof', 'goto']);
const isVariable = ({ kind, text }: Token): boolean => kind === 'name' && !KEYWORDS.has(text);

const endOf = ({ at, text }: Token): number => at + text.length;

function operatorFault(tokens: readonly Token[], i: number): Fault | undefined {
  const { text, at, kind } = tokens[i]!;
  if (kind !== 'sign') return undefined;
  const isSum = (text === '+' || text === '-') && isOperand(tokens[i - 1]);
  const other = isSum
    ? text === '+'
      ? '-'
      : '+'
    : Object.hasOwn(OPERATORS, text)
      ? OPERATORS[text]
      : undefined;
  if (other === undefined) return undefined;
  return { what: `${text} becomes ${other}`, at, edits: [{ from: at, to: at + text.length, text: other }] };
}

/** A decimal number that is one too large. Indices of arrays and sizes in declarations too. */
function offByOne(tokens: readonly Token[], i: number): Fault | undefined {
  const { text, at, kind } = tokens[i]!;
  if (kind !== 'number' || !/^\d{1,9}[uUlL]*$/.test(text)) return undefined;
  const more = text.replace(/^\d+/, digits => `${Number(digits) + 1}`);
  return { what: `${text} becomes ${more}`, at, edits: [{ from: at, to: at + text.length, text: more }] };
}

const LOCKING = /^(?:mutex|spin)_(?:un)?lock$/;

/** All calls on one lock in the function are gone; counted at the first of them. */
function droppedLock(source: string, tokens: readonly Token[], fn: CFunction, i: number): Fault | undefined {
  const lockOf = (at: number): string | undefined => {
    if (!LOCKING.test(tokens[at]!.text) || tokens[at + 1]?.text !== '(') return undefined;
    const end = closing(tokens, at + 1);
    return end < fn.last ? source.slice(tokens[at]!.at, endOf(tokens[end]!)).replace(/^\w+/, '') : undefined;
  };
  const lock = lockOf(i);
  if (lock === undefined) return undefined;
  const places: number[] = [];
  for (let at = fn.first; at < fn.last; at++) if (lockOf(at) === lock) places.push(at);
  if (places[0] !== i) return undefined;
  const edits = places.map(at => ({
    from: tokens[at]!.at,
    to: endOf(tokens[closing(tokens, at + 1)]!),
    text: '(void)0',
  }));
  return { what: `the lock ${lock.slice(1, -1)} is not taken`, at: tokens[i]!.at, edits };
}

/** `if (CONDITION) return ...;`, also with goto, break and assignments of an error: never taken. */
function droppedCheck(source: string, tokens: readonly Token[], i: number): Fault | undefined {
  if (tokens[i]!.text !== 'if' || tokens[i + 1]?.text !== '(') return undefined;
  const end = closing(tokens, i + 1);
  const then = tokens[end + 1]?.text === '{' ? tokens[end + 2] : tokens[end + 1];
  if (!then || !['return', 'goto', 'break'].includes(then.text)) return undefined;
  const open = tokens[i + 1]!.at;
  const condition = source.slice(open + 1, tokens[end]!.at).replace(/\s+/g, ' ');
  const edits = [
    { from: open, to: open + 1, text: '(0 && (' },
    { from: tokens[end]!.at, to: tokens[end]!.at + 1, text: '))' },
  ];
  return { what: `the check ${condition} is dropped`, at: tokens[i]!.at, edits };
}

/** Later edits first, so that offsets stay true. */
function apply(source: string, edits: readonly Edit[]): string {
  let text = source;
  for (const { from, to, text: now } of [...edits].sort((a, b) => b.from - a.from))
    text = text.slice(0, from) + now + text.slice(to);
  return text;
}

/** The mutants of these functions, in the order of the source. */
export function mutantsOf(source: string, functions: readonly string[]): Mutant[] {
  const tokens = tokensOf(source);
  const mutants: Mutant[] = [];
  for (const fn of functionsOf(tokens).filter(({ name }) => functions.includes(name))) {
    let count = 0;
    for (let i = fn.first; i < fn.last; i++) {
      const faults = [
        operatorFault(tokens, i),
        offByOne(tokens, i),
        droppedLock(source, tokens, fn, i),
        droppedCheck(source, tokens, i),
      ];
      for (const fault of faults) {
        if (!fault) continue;
        const name = `${fn.name}#${++count}: ${fault.what}`;
        mutants.push({ name, line: lineAt(source, fault.at), source: apply(source, fault.edits) });
      }
    }
  }
  return mutants;
}
