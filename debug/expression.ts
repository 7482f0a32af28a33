// Expressions of C, as far as a debugger needs them: names, members, elements, addresses, casts to
// known types, arithmetic. No calls and no assignments: nothing here changes the program.
import { type Place, pointerTo, type Type, VOID } from '../coverage/index.ts';
import { BASE_TYPES, compute, converted, isTrue, literal, MINUS_ONE, promote, truth } from './arithmetic.ts';
import { DebugError, notMapped } from './error.ts';
import { addressOf, integerOf, memberOf, type Read, sizeOf, type Value, vaOf } from './values.ts';

export interface Names {
  variable(name: string): Value | undefined;
  type(name: string): Type | undefined;
  /** Does a variable that can be seen here have this name? */
  hasVariable(name: string): boolean;
  readonly read: Read;
}

const LENGTH_MAX = 1000;
const DEPTH_MAX = 100;
const OBJECT_MAX = 1 << 16;
/** Members without a name that one look-up enters. */
const MEMBERS_MAX = 1000;
const NUMBER = /(?:0x[0-9a-f]+|(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d+)[ulf]*/;
const CHARACTER = /'(?:[^'\\]|\\(?:x[0-9a-f]{1,2}|[0-7]{1,3}|.))'/;
const SIGN = /->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()[\].]/;
const TOKEN = new RegExp(
  `\\s*(?:(${NUMBER.source})|([A-Za-z_]\\w*)|(${CHARACTER.source})|(${SIGN.source}))`,
  'iy',
);

const BINARY: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** An expression that was read: its value at this moment. Errors: DebugError with the reason. */
export type Expression = () => Value;

/**
 * Reads an expression, which is evaluated as often as its answer is called. Errors: DebugError
 * where it is not C, or names no known type; names of variables are looked up later.
 */
export function compile(text: string, names: Names): Expression {
  if (text.length > LENGTH_MAX)
    throw new DebugError(`the expression is longer than ${LENGTH_MAX} characters`);
  return new Parser(tokens(text), names).whole();
}

interface Token {
  readonly kind: 'number' | 'name' | 'sign' | 'end';
  readonly text: string;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (text.slice(at).trim() !== '') {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) throw new DebugError(`cannot read the expression from "${text.slice(at).trim()}" on`);
    at = TOKEN.lastIndex;
    const [, number, name, character, sign] = match;
    if (number !== undefined) found.push({ kind: 'number', text: number });
    else if (name !== undefined) found.push({ kind: 'name', text: name });
    else if (character !== undefined)
      found.push({ kind: 'number', text: String(codeOf(character.slice(1, -1))) });
    else found.push({ kind: 'sign', text: sign! });
  }
  found.push({ kind: 'end', text: 'the end' });
  return found;
}

/** Behind a backslash (6.4.4.4), and the `e` of GNU C. */
const ESCAPES: Readonly<Record<string, number>> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 },
  ...{ "'": 0x27, '"': 0x22, '?': 0x3f, '\\': 0x5c },
};

/** Of a character constant without its quotes; `char` is unsigned on RISC-V. */
function codeOf(text: string): number {
  const isEscape = text.startsWith('\\');
  const code = isEscape ? escapeOf(text.slice(1)) : text.charCodeAt(0);
  if (code === undefined || code > (isEscape ? 0xff : 0x7f))
    throw new DebugError(`'${text}' is not a character of one byte`);
  return code;
}

function escapeOf(text: string): number | undefined {
  if (/^x[0-9a-f]/i.test(text)) return Number.parseInt(text.slice(1), 16);
  if (/^[0-7]/.test(text)) return Number.parseInt(text, 8);
  return Object.hasOwn(ESCAPES, text) ? ESCAPES[text] : undefined;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #names: Names;
  #at = 0;
  #depth = 0;

  constructor(all: readonly Token[], names: Names) {
    this.#tokens = all;
    this.#names = names;
  }

  whole(): Expression {
    const value = this.#binary(0);
    if (this.#token.kind !== 'end') throw new DebugError(`"${this.#token.text}" is not expected here`);
    return value;
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #take(text: string): boolean {
    if (this.#token.kind !== 'sign' || this.#token.text !== text) return false;
    this.#at++;
    return true;
  }

  #need(text: string): void {
    if (!this.#take(text)) throw new DebugError(`"${text}" is expected before ${this.#token.text}`);
  }

  #binary(level: number): Expression {
    if (level === BINARY.length) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { kind, text } = this.#token;
      if (kind !== 'sign' || !BINARY[level]!.includes(text)) return left;
      this.#at++;
      left = joined(text, left, this.#binary(level + 1));
    }
  }

  #unary(): Expression {
    if (++this.#depth > DEPTH_MAX) throw new DebugError('the expression is nested too deeply');
    try {
      for (const [sign, meaning] of Object.entries(UNARY)) {
        if (!this.#take(sign)) continue;
        const operand = this.#unary();
        return () => meaning(operand(), this.#names.read);
      }
      const cast = this.#cast();
      if (!cast) return this.#postfix(this.#primary());
      const operand = this.#unary();
      return () => converted(cast, operand());
    } finally {
      this.#depth--;
    }
  }

  /** `(type)`, with the cursor behind it; undefined leaves the cursor. */
  #cast(): Type | undefined {
    const start = this.#at;
    if (!this.#take('(')) return undefined;
    const words: string[] = [];
    while (this.#token.kind === 'name') words.push(this.#tokens[this.#at++]!.text);
    const name = words.filter(word => word !== 'const' && word !== 'volatile').join(' ');
    // Types of the kernel are known everywhere: (u8) + 1 is a sum where the program has a u8.
    const isVariable = words.length === 1 && this.#names.hasVariable(name);
    let type = words.length === 0 || isVariable ? undefined : this.#typeNamed(name);
    while (type && this.#take('*')) type = pointerTo(type);
    if (type && this.#take(')')) return type;
    this.#at = start;
    return undefined;
  }

  #typeNamed(name: string): Type | undefined {
    if (name === 'void') return VOID;
    const known = this.#names.type(name);
    if (known) return known;
    return Object.hasOwn(BASE_TYPES, name) ? BASE_TYPES[name] : undefined;
  }

  #primary(): Expression {
    const { kind, text } = this.#token;
    if (this.#take('(')) {
      const value = this.#binary(0);
      this.#need(')');
      return value;
    }
    this.#at++;
    if (kind === 'number') {
      const value = literal(text);
      return () => value;
    }
    if (kind !== 'name') throw new DebugError(`a value is expected before ${text}`);
    return () => {
      const value = this.#names.variable(text);
      if (!value) throw new DebugError(`there is no variable ${text} here`);
      return value;
    };
  }

  #postfix(first: Expression): Expression {
    const { read } = this.#names;
    let value = first;
    for (;;) {
      const of = value;
      if (this.#take('[')) {
        const index = this.#binary(0);
        this.#need(']');
        value = () => target(compute('+', of(), index()), read);
      } else if (this.#take('->')) {
        const name = this.#member();
        value = () => member(behind(of()), name, read);
      } else if (this.#take('.')) {
        const name = this.#member();
        value = () => member(of(), name, read);
      } else return value;
    }
  }

  #member(): string {
    const { kind, text } = this.#token;
    this.#at++;
    if (kind !== 'name') throw new DebugError(`a member is expected before ${text}`);
    return text;
  }
}

const UNARY: Readonly<Record<string, (value: Value, read: Read) => Value>> = {
  '*': target,
  '&': addressOf,
  '-': value => compute('*', MINUS_ONE, value), // 0 - 0.0 is not -0.0
  '+': promote,
  '~': value => compute('~', value, value),
  '!': value => truth(!isTrue(value)),
};

/** As in C, `&&` and `||` look at the second operand only where it decides. */
function joined(sign: string, left: Expression, right: Expression): Expression {
  if (sign === '&&') return () => truth(isTrue(left()) && isTrue(right()));
  if (sign === '||') return () => truth(isTrue(left()) || isTrue(right()));
  return () => compute(sign, left(), right());
}

function member(value: Value, name: string, read: Read): Value {
  const found = find(value, name, 0);
  if (!found) throw new DebugError(`${value.type.name} has no member ${name}`);
  if (found.bytes.length >= Math.min(sizeOf(found), OBJECT_MAX)) return found;
  // It does not lie in the part of its object that was read.
  return {
    ...objectAt(found.type, vaOf(found), read, sizeOf(found)),
    ...(found.bits && { bits: found.bits }),
  };
}

/** The object behind a pointer, without its bytes: of a large one a member is enough. */
function behind(pointer: Value): Value & { readonly place: Place & { readonly kind: 'memory' } } {
  const { type } = pointer;
  if (type.kind !== 'array' && type.kind !== 'pointer') throw new DebugError(`${type.name} is not a pointer`);
  const of = type.kind === 'array' ? type.of : type.to();
  const va = type.kind === 'array' ? vaOf(pointer) : BigInt.asUintN(64, integerOf(pointer));
  if (of.kind === 'void' || of.kind === 'function')
    throw new DebugError(`there is no value behind a pointer to ${of.name}; cast it first`);
  return { type: of, place: { kind: 'memory', va }, bytes: new Uint8Array(0) };
}

function target(pointer: Value, read: Read): Value {
  const { type, place } = behind(pointer);
  return objectAt(type, place.va, read);
}

function objectAt(type: Type, va: bigint, read: Read, whole = type.bytes): Value {
  const size = Math.min(whole, OBJECT_MAX);
  const bytes = read(va, size);
  if (bytes?.length !== size) throw notMapped(va);
  return { type, place: { kind: 'memory', va }, bytes };
}

/** Also in members without a name, whose types may contain each other. */
function find(
  value: Value,
  name: string,
  depth: number,
  budget = { members: MEMBERS_MAX },
): Value | undefined {
  if (value.type.kind !== 'struct' || depth > 8) return undefined;
  const members = value.type.members();
  const own = members.find(member => member.name === name);
  if (own) return memberOf(value, own);
  for (const member of members) {
    if (member.name !== '' || budget.members-- <= 0) continue;
    const inner = find(memberOf(value, member), name, depth + 1, budget);
    if (inner) return inner;
  }
  return undefined;
}
