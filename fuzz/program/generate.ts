// New calls and programs. A resource that a call takes is made by an earlier call of the program,
// or by a call that is put in front of it, as far as possible.
import { MORE_ITEMS } from '../language/measure.ts';
import {
  type CallType,
  type Descriptions,
  type Direction,
  FuzzError,
  fits,
  type Resource,
  rootOf,
  type Type,
} from '../language/types.ts';
import {
  type Arg,
  CALLS_MAX,
  type Call,
  insertCalls,
  made,
  madeBefore,
  mask,
  type Program,
  setLengths,
  VMA_PAGES,
  visit,
} from './program.ts';
import type { Random } from './random.ts';
import { type Neighbours, Takers } from './relations.ts';
import { usual } from './text.ts';
import { BAD_POINTERS, type Dictionary, newBytes, newFlags, newInt, wholeInt } from './values.ts';

/** Calls that make a resource so that another call can take it, one in front of the other. */
const DEPTH_MAX = 3;
const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(`${text}\0`, character => character.charCodeAt(0));

/** The calls that may be made, and which of them make what. */
export class Choice {
  readonly calls: readonly CallType[];
  readonly takers: Takers;
  readonly #makers = new Map<Resource, CallType[]>();

  /**
   * `patterns`: names of calls, with * for any text; absent: all. Errors: FuzzError for one that
   * matches no call, and for more than 1000 with a star, because each is compared with each name.
   */
  constructor(descriptions: Descriptions, patterns: readonly string[] = ['*']) {
    this.calls = chosen(descriptions.calls, patterns);
    this.takers = new Takers(descriptions, this.calls);
    const makes = this.calls.map(type => ({ type, all: made(blank(type)) }));
    for (const resource of descriptions.resources.values())
      this.#makers.set(
        resource,
        makes.filter(({ all }) => all.some(m => fits(m.resource, resource))).map(({ type }) => type),
      );
  }

  makers(resource: Resource): readonly CallType[] {
    return this.#makers.get(resource) ?? [];
  }
}

const STARS_MAX = 1000;

function chosen(calls: readonly CallType[], patterns: readonly string[]): CallType[] {
  const wanted = new Set(patterns);
  const stars = [...wanted].filter(pattern => pattern.includes('*')).map(pattern => pattern.split('*'));
  if (stars.length > STARS_MAX)
    throw new FuzzError(
      `${stars.length} patterns of calls have a *, and at most ${STARS_MAX} may; name the calls, or use wider patterns`,
    );
  const names = new Set(calls.map(({ name }) => name));
  const idle = [...wanted].find(pattern =>
    pattern.includes('*') ? !calls.some(({ name }) => matches(pattern, name)) : !names.has(pattern),
  );
  if (idle !== undefined) throw new FuzzError(`no call matches "${idle}"`);
  return calls.filter(({ name }) => wanted.has(name) || stars.some(parts => hasParts(parts, name)));
}

/**
 * Does the pattern, with * for any text, match all of the name? Each part between two stars is
 * taken where it comes first, so the time is that of a search, whatever the pattern.
 */
export const matches = (pattern: string, name: string): boolean => hasParts(pattern.split('*'), name);

function hasParts(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

/** A call whose arguments are all there, so that what it makes can be seen. */
function blank(type: CallType): Call {
  const fill = (t: Type): Arg => {
    if (t.kind === 'pointer') return { kind: 'pointer', to: fill(t.to) };
    if (t.kind === 'struct') return { kind: 'group', items: t.struct.fields.map(f => fill(f.type)) };
    if (t.kind === 'array') return { kind: 'group', items: t.high > 0 ? [fill(t.of)] : [] };
    return { kind: 'int', value: 0n };
  };
  return { type, args: type.args.map(f => fill(f.type)), failNth: 0, thread: 0 };
}

export class Generator {
  readonly #random: Random;
  readonly #choice: Choice;
  readonly #dictionary: Dictionary;
  readonly #neighbours: Neighbours | undefined;

  /** `neighbours`: of the programs that a campaign has kept. */
  constructor(random: Random, choice: Choice, dictionary: Dictionary, neighbours?: Neighbours) {
    this.#random = random;
    this.#choice = choice;
    this.#dictionary = dictionary;
    this.#neighbours = neighbours;
  }

  program(): Program {
    const program: Program = { calls: [] };
    const wanted = 1 + this.#random.below(8);
    while (program.calls.length < wanted) this.insert(program, program.calls.length);
    return program;
  }

  /** Puts a new call, and those that make what it takes, in front of call `at`. */
  insert(program: Program, at: number): void {
    this.#insert(program, at, this.#next(program, at), 0);
  }

  /** A call that goes with one before it, or any. */
  #next({ calls }: Program, at: number): CallType {
    const random = this.#random;
    if (at > 0 && !random.oneIn(3)) {
      const before = calls[random.below(at)]!;
      const makes = made(before);
      const related =
        makes.length > 0 && random.oneIn(2)
          ? this.#choice.takers.of(random.of(makes).resource, random)
          : this.#neighbours?.of(before.type, random);
      if (related) return related;
    }
    return random.of(this.#choice.calls);
  }

  /** The number of calls that were put in. */
  #insert(program: Program, at: number, type: CallType, depth: number): number {
    let index = at;
    const args: Arg[] = [];
    for (const field of type.args) {
      const wanted = field.type.kind === 'resource' ? field.type.resource : undefined;
      if (wanted) index += this.#provide(program, index, wanted, depth);
    }
    for (const field of type.args) args.push(this.#arg(program, index, field.type, 'in'));
    const call: Call = { type, args, failNth: 0, thread: 0 };
    setLengths(call);
    if (program.calls.length < CALLS_MAX) insertCalls(program, index, [call]);
    return index + 1 - at;
  }

  /** Puts a call that makes `wanted` in front of call `at`, if there is none, or sometimes. */
  #provide(program: Program, at: number, wanted: Resource, depth: number): number {
    const random = this.#random;
    if (depth >= DEPTH_MAX || program.calls.length >= CALLS_MAX - 1) return 0;
    const isThere = madeBefore(program, at, wanted).length > 0;
    if (isThere ? !random.oneIn(6) : random.oneIn(12)) return 0;
    const makers = this.#choice.makers(wanted);
    if (makers.length === 0) return 0;
    return this.#insert(program, at, random.of(makers), depth + 1);
  }

  /** A resource for call `at`. */
  resource(program: Program, at: number, resource: Resource): Arg {
    const random = this.#random;
    // Now and then one of another kind, which is an error for most calls.
    const wanted = random.oneIn(12) ? rootOf(resource) : resource;
    const there = madeBefore(program, at, wanted);
    if (there.length > 0 && !random.oneIn(12))
      return { kind: 'ref', ...random.of(there), value: usual(resource) };
    const value = random.oneIn(3)
      ? newInt(random, wholeInt(resource.width), this.#dictionary)
      : random.of(resource.special);
    return { kind: 'int', value: mask(value, resource.width) };
  }

  /** A page of the zone for mappings: mostly one that another call uses, so that calls meet. */
  #page(program: Program, at: number): number {
    const random = this.#random;
    const used: number[] = [];
    for (const call of program.calls.slice(0, at))
      visit(call, ({ arg }) => {
        if (arg.kind === 'vma') used.push(arg.page);
      });
    if (used.length === 0 || random.oneIn(4)) return random.below(VMA_PAGES);
    const page = random.of(used);
    return random.oneIn(4) ? (page + 1) % VMA_PAGES : page;
  }

  /** A new argument of call `at`. */
  #arg(program: Program, at: number, type: Type, direction: Direction): Arg {
    const random = this.#random;
    switch (type.kind) {
      case 'int':
        return { kind: 'int', value: direction === 'out' ? 0n : newInt(random, type, this.#dictionary) };
      case 'const':
        return { kind: 'int', value: direction === 'out' ? 0n : type.value };
      case 'flags':
        return { kind: 'int', value: direction === 'out' ? 0n : newFlags(random, type.set, type.width) };
      case 'len':
        return { kind: 'int', value: 0n };
      case 'resource':
        return direction === 'in' ? this.resource(program, at, type.resource) : { kind: 'int', value: 0n };
      case 'vma':
        return { kind: 'vma', page: this.#page(program, at) };
      case 'pointer':
        if (random.oneIn(type.optional ? 3 : 100)) return { kind: 'pointer', to: undefined };
        if (random.oneIn(100)) return { kind: 'int', value: random.of(BAD_POINTERS) };
        return { kind: 'pointer', to: this.#arg(program, at, type.to, type.direction) };
      case 'string':
        return { kind: 'bytes', data: bytesOf(random.of(type.set.values)) };
      case 'bytes': {
        const data = newBytes(random, type.low, type.high);
        return { kind: 'bytes', data: direction === 'out' ? data.fill(0) : data };
      }
      case 'struct':
        return {
          kind: 'group',
          items: type.struct.fields.map(field => this.#arg(program, at, field.type, direction)),
        };
      case 'array': {
        const count = type.low + random.below(Math.min(type.high - type.low, MORE_ITEMS) + 1);
        const items = Array.from({ length: count }, () => this.#arg(program, at, type.of, direction));
        return { kind: 'group', items };
      }
    }
  }

  /** Another argument of the same type. */
  fresh(program: Program, at: number, type: Type, direction: Direction): Arg {
    return this.#arg(program, at, type, direction);
  }
}
