// Expressions of C, as far as a debugger needs them: names, members, elements, addresses, casts to
// known types, arithmetic. No calls and no assignments: nothing here changes the program.
import { LONG, type Place, pointerTo, type Type, UNSIGNED_LONG, VOID } from '../coverage/index.ts';
import { KcovboxError } from '../emulator/index.ts';
import { bytesOf, integerOf, memberOf, type Read, type Value } from './values.ts';

/** A request of the user that cannot be met; one line. */
export class DebugError extends KcovboxError {
  constructor(message: string) {
    super('input', message);
  }
}

export interface Names {
  variable(name: string): Value | undefined;
  type(name: string): Type | undefined;
  readonly read: Read;
}

const LENGTH_MAX = 1000;
const DEPTH_MAX = 100;
const OBJECT_MAX = 1 << 16;
/** Members without a name that one look-up enters. */
const MEMBERS_MAX = 1000;
const TOKEN =
  /\s*(?:(0x[0-9a-f]+|\d+)([ul]*)|([A-Za-z_]\w*)|('(?:[^'\\]|\\.)')|(->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()[\].]))/iy;

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

/** Errors: DebugError with the reason. */
export function evaluate(text: string, names: Names): Value {
  if (text.length > LENGTH_MAX)
    throw new DebugError(`the expression is longer than ${LENGTH_MAX} characters`);
  const parser = new Parser(tokens(text), names);
  return parser.whole();
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
    const [, number, , name, character, sign] = match;
    if (number !== undefined) found.push({ kind: 'number', text: number });
    else if (name !== undefined) found.push({ kind: 'name', text: name });
    else if (character !== undefined)
      found.push({ kind: 'number', text: String(codeOf(character.slice(1, -1))) });
    else found.push({ kind: 'sign', text: sign! });
  }
  found.push({ kind: 'end', text: 'the end' });
  return found;
}

const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, '0': 0 };
const codeOf = (text: string): number =>
  text.startsWith('\\') ? (ESCAPES[text[1]!] ?? text.charCodeAt(1)) : text.charCodeAt(0);

class Parser {
  readonly #tokens: readonly Token[];
  readonly #names: Names;
  #at = 0;
  #depth = 0;

  constructor(all: readonly Token[], names: Names) {
    this.#tokens = all;
    this.#names = names;
  }

  whole(): Value {
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

  #binary(level: number): Value {
    if (level === BINARY.length) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { kind, text } = this.#token;
      if (kind !== 'sign' || !BINARY[level]!.includes(text)) return left;
      this.#at++;
      left = this.#compute(text, left, this.#binary(level + 1));
    }
  }

  #unary(): Value {
    if (++this.#depth > DEPTH_MAX) throw new DebugError('the expression is nested too deeply');
    try {
      if (this.#take('*')) return this.#target(this.#unary());
      if (this.#take('&')) return addressOf(this.#unary());
      if (this.#take('-')) return integer(-number(this.#unary()));
      if (this.#take('+')) return this.#unary();
      if (this.#take('~')) return integer(~number(this.#unary()));
      if (this.#take('!')) return integer(number(this.#unary()) === 0n ? 1n : 0n);
      const cast = this.#cast();
      if (cast) return this.#as(cast, this.#unary());
      return this.#postfix(this.#primary());
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
    let type = words.length === 0 ? undefined : this.#typeNamed(name);
    while (type && this.#take('*')) type = pointerTo(type);
    if (type && this.#take(')')) return type;
    this.#at = start;
    return undefined;
  }

  #typeNamed(name: string): Type | undefined {
    if (name === 'void') return VOID;
    const known = this.#names.type(name);
    if (known) return known;
    const own: Readonly<Record<string, Type>> = {
      long: LONG,
      'unsigned long': UNSIGNED_LONG,
      unsigned: base('unsigned int', 4, 'unsigned'),
      'unsigned int': base('unsigned int', 4, 'unsigned'),
      int: base('int', 4, 'signed'),
      short: base('short', 2, 'signed'),
      'unsigned short': base('unsigned short', 2, 'unsigned'),
      char: base('char', 1, 'unsigned char'),
      'unsigned char': base('unsigned char', 1, 'unsigned char'),
    };
    return Object.hasOwn(own, name) ? own[name] : undefined;
  }

  #primary(): Value {
    const { kind, text } = this.#token;
    if (this.#take('(')) {
      const value = this.#binary(0);
      this.#need(')');
      return value;
    }
    this.#at++;
    if (kind === 'number') return literal(text);
    if (kind !== 'name') throw new DebugError(`a value is expected before ${text}`);
    const value = this.#names.variable(text);
    if (!value) throw new DebugError(`there is no variable ${text} here`);
    return value;
  }

  #postfix(first: Value): Value {
    let value = first;
    for (;;) {
      if (this.#take('[')) {
        const index = this.#binary(0);
        this.#need(']');
        value = this.#target(this.#compute('+', value, index));
      } else if (this.#take('->')) value = this.#member(this.#target(value));
      else if (this.#take('.')) value = this.#member(value);
      else return value;
    }
  }

  #member(value: Value): Value {
    const { kind, text } = this.#token;
    this.#at++;
    if (kind !== 'name') throw new DebugError(`a member is expected before ${text}`);
    const found = find(value, text, 0);
    if (!found) throw new DebugError(`${value.type.name} has no member ${text}`);
    return found;
  }

  #target(pointer: Value): Value {
    const { type } = pointer;
    if (type.kind === 'array') return this.#object(type.of, vaOf(pointer));
    if (type.kind !== 'pointer') throw new DebugError(`${type.name} is not a pointer`);
    return this.#object(type.to(), BigInt.asUintN(64, integerOf(pointer)));
  }

  #object(type: Type, va: bigint): Value {
    if (type.kind === 'void' || type.kind === 'function')
      throw new DebugError(`there is no value behind a pointer to ${type.name}; cast it first`);
    const size = Math.min(type.bytes, OBJECT_MAX);
    const bytes = this.#names.read(va, size);
    if (bytes?.length !== size) throw new DebugError(`nothing is mapped at 0x${va.toString(16)}`);
    return { type, place: { kind: 'memory', va }, bytes };
  }

  #as(type: Type, value: Value): Value {
    if (type.kind === 'struct' || type.kind === 'array') throw new DebugError(`cannot cast to ${type.name}`);
    const from = value.type.kind === 'array' ? addressOf(value) : value;
    return { type, place: undefined, bytes: bytesOf(number(from), type.bytes) };
  }

  #compute(sign: string, a: Value, b: Value): Value {
    if (sign === '+' || sign === '-') {
      const [pointer, other] = isPointer(a) ? [a, b] : [b, a];
      if (isPointer(pointer) && !(sign === '-' && isPointer(a) !== isPointer(pointer))) {
        const base =
          pointer.type.kind === 'array' ? pointer.type.of : (pointer.type as Type & { kind: 'pointer' }).to();
        const size = BigInt(Math.max(1, base.bytes));
        const at = pointer.type.kind === 'array' ? vaOf(pointer) : integerOf(pointer);
        if (isPointer(other) && sign === '-') return integer((at - number(other)) / size);
        const moved = sign === '+' ? at + number(other) * size : at - number(other) * size;
        return { type: pointerTo(base), place: undefined, bytes: bytesOf(moved, 8) };
      }
    }
    return integer(arithmetic(sign, number(a), number(b)));
  }
}

const base = (name: string, bytes: number, encoding: 'signed' | 'unsigned' | 'unsigned char'): Type => ({
  kind: 'base',
  name,
  bytes,
  encoding,
});

const isPointer = ({ type }: Value): boolean => type.kind === 'pointer' || type.kind === 'array';

const integer = (value: bigint): Value => ({ type: LONG, place: undefined, bytes: bytesOf(value, 8) });

/** As in C, a number that a long cannot hold is unsigned. */
function literal(text: string): Value {
  const value = BigInt(text);
  if (value >= 1n << 64n) throw new DebugError(`${shortened(text)} does not fit into 64 bits`);
  if (value < 1n << 63n) return integer(value);
  return { type: UNSIGNED_LONG, place: undefined, bytes: bytesOf(value, 8) };
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

function number(value: Value): bigint {
  const { kind, name } = value.type;
  if (kind === 'array') return vaOf(value);
  if (kind === 'struct' || kind === 'void' || kind === 'function')
    throw new DebugError(`${name} is not a number`);
  return integerOf(value);
}

/** Errors: DebugError for a value that is not in memory. */
export function vaOf({ place, type }: Value): bigint {
  const at: Place | undefined = place;
  if (at?.kind !== 'memory') throw new DebugError(`the ${type.name} is not in memory: it has no address`);
  return at.va;
}

const addressOf = (value: Value): Value => ({
  type: pointerTo(value.type),
  place: undefined,
  bytes: bytesOf(vaOf(value), 8),
});

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

function arithmetic(sign: string, a: bigint, b: bigint): bigint {
  const truth = (is: boolean): bigint => (is ? 1n : 0n);
  if ((sign === '/' || sign === '%') && b === 0n) throw new DebugError('division by zero');
  if ((sign === '<<' || sign === '>>') && (b < 0n || b > 63n)) throw new DebugError(`a shift by ${b} bits`);
  switch (sign) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '<<':
      return a << b;
    case '>>':
      return a >> b;
    case '==':
      return truth(a === b);
    case '!=':
      return truth(a !== b);
    case '<':
      return truth(a < b);
    case '>':
      return truth(a > b);
    case '<=':
      return truth(a <= b);
    case '>=':
      return truth(a >= b);
    case '&&':
      return truth(a !== 0n && b !== 0n);
    default:
      return truth(a !== 0n || b !== 0n);
  }
}
