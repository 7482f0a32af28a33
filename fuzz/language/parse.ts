// The description language. A description is lines of text; docs/fuzzing.md has the grammar.

import { type Cursor, cursorOver } from './cursor.ts';
import { checkSize } from './measure.ts';
import { parseType, type TypeScope } from './parse-type.ts';
import type { SyscallRow } from './syscalls.ts';
import {
  type CallType,
  type Descriptions,
  type Field,
  type FlagSet,
  FuzzError,
  type Resource,
  type StringSet,
  type Struct,
  type Width,
} from './types.ts';

/** A description file. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Most characters of a description file. */
const TEXT_MAX = 1 << 20;
/** Most of all files: which call makes what another one takes is a table of the two. */
const RESOURCES_MAX = 1024;
const DESCRIBED_MAX = 4096;
/** Most kinds of which a resource is one more. */
const PARENTS_MAX = 32;

/** Calls that a program must not make: they end, replace or confuse the agent. */
const NEVER = new Set(['exit', 'exit_group', 'rt_sigreturn', 'reboot', 'execve', 'execveat']);
/** Calls that return in a child, too. */
const FORKS = new Set(['clone', 'clone3', 'fork']);

class Parser implements TypeScope {
  readonly resources = new Map<string, Resource>();
  readonly flags = new Map<string, FlagSet>();
  readonly strings = new Map<string, StringSet>();
  readonly structs = new Map<string, Struct>();
  readonly calls = new Map<string, CallType>();
  readonly #rows: ReadonlyMap<string, SyscallRow>;

  constructor(rows: ReadonlyMap<string, SyscallRow>) {
    this.#rows = rows;
  }

  source({ name, text }: Source): void {
    if (text.length > TEXT_MAX) throw new FuzzError(`${name}: more than ${TEXT_MAX} characters`);
    const lines = joined(text, name);
    for (const { text, line } of lines) {
      const c = cursorOver(text, `${name}:${line}`);
      const word = c.word();
      if (word === 'resource') this.#resource(c);
      else if (word === 'flags' || word === 'values') this.#flags(c, word === 'flags' ? 'bits' : 'values');
      else if (word === 'strings') this.#strings(c);
      else if (word === 'struct') this.#struct(c);
      else if (word === 'call') this.#call(c);
      else if (word === 'exact') {
        c.take('call');
        this.#call(c, true);
      } else
        throw c.error(
          `"${word}" begins no declaration: resource, flags, values, strings, struct or [exact] call`,
        );
      c.end();
    }
  }

  /** resource NAME: PARENT-OR-WIDTH = SPECIAL, ... */
  #resource(c: Cursor): void {
    const name = this.#fresh(c, this.resources);
    c.take(':');
    const base = c.word();
    const parent = this.resources.get(base);
    const width = parent?.width ?? widthOf(base);
    if (!width) throw c.error(`"${base}" is neither int8, int16, int32, int64 nor a resource`);
    const special: bigint[] = [];
    if (c.has('='))
      do special.push(c.number());
      while (c.has(','));
    let parents = 0;
    for (let at = parent; at; at = at.parent) parents++;
    if (parents > PARENTS_MAX) throw c.error(`"${name}" has more than ${PARENTS_MAX} kinds above it`);
    if (this.resources.size === RESOURCES_MAX) throw c.error(`more than ${RESOURCES_MAX} resources`);
    this.resources.set(name, {
      name,
      width,
      parent,
      special: special.length ? special : (parent?.special ?? [0n]),
    });
  }

  /** flags NAME = C_NAME NUMBER, ... */
  #flags(c: Cursor, kind: FlagSet['kind']): void {
    const name = this.#fresh(c, this.flags);
    c.take('=');
    const names: string[] = [];
    const values: bigint[] = [];
    do {
      names.push(c.word());
      values.push(c.number());
    } while (c.has(','));
    this.flags.set(name, { name, kind, names, values });
  }

  /** strings NAME = "TEXT", ... */
  #strings(c: Cursor): void {
    const name = this.#fresh(c, this.strings);
    c.take('=');
    const values: string[] = [];
    do values.push(c.string());
    while (c.has(','));
    this.strings.set(name, { name, values });
  }

  /** struct NAME { FIELD: TYPE, ... } */
  #struct(c: Cursor): void {
    const name = this.#fresh(c, this.structs);
    c.take('{');
    const fields = this.#fields(c, '}');
    this.structs.set(name, { name, fields });
  }

  /** [exact] call NAME[$WAY](ARG: TYPE, ...) [-> RESOURCE] */
  #call(c: Cursor, isExact = false): void {
    const name = this.#fresh(c, this.calls);
    if (this.calls.size === DESCRIBED_MAX) throw c.error(`more than ${DESCRIBED_MAX} calls are described`);
    const base = name.replace(/\$.*/, '');
    const row = this.#rows.get(base);
    if (!row) throw c.error(`the kernel has no system call "${base}"`);
    if (NEVER.has(base)) throw c.error(`${base} would end the agent: no program may call it`);
    c.take('(');
    const args = this.#fields(c, ')');
    if (args.length > row.args) throw c.error(`${base} has ${row.args} arguments, not ${args.length}`);
    for (const { name: arg, type } of args)
      if (['bytes', 'string', 'array', 'struct'].includes(type.kind))
        throw c.error(`argument ${arg} of ${name} is ${type.kind}, which needs a pointer: ptr, out or inout`);
    let returns: Resource | undefined;
    if (c.has('->')) {
      const made = c.word();
      returns = this.resources.get(made);
      if (!returns) throw c.error(`no resource "${made}"`);
    }
    this.calls.set(name, { name, number: row.number, args, returns, forks: FORKS.has(base), isExact });
  }

  #fields(c: Cursor, close: string): Field[] {
    const fields: Field[] = [];
    const names = new Set<string>();
    while (!c.has(close)) {
      if (fields.length > 0) c.take(',');
      const name = c.word();
      if (names.has(name)) throw c.error(`there are two fields "${name}"`);
      names.add(name);
      c.take(':');
      fields.push({ name, type: parseType(c, this) });
    }
    for (const { type } of fields)
      if (type.kind === 'len' && !names.has(type.of))
        throw c.error(`len ${type.of}: there is no field "${type.of}" beside it`);
    checkSize(c, fields);
    return fields;
  }

  #fresh(c: Cursor, known: ReadonlyMap<string, unknown>): string {
    const name = c.word();
    if (known.has(name)) throw c.error(`"${name}" is declared twice`);
    return name;
  }

  /** Calls that no description names, with arguments of unknown type. */
  finish(): Descriptions {
    const described = new Set([...this.calls.keys()].map(name => name.replace(/\$.*/, '')));
    for (const { name, number, args } of this.#rows.values()) {
      if (described.has(name) || NEVER.has(name)) continue;
      const unknown = (i: number): Field => ({
        name: `a${i}`,
        type: { kind: 'int', width: 8, low: 0n, high: (1n << 64n) - 1n },
      });
      const fields = Array.from({ length: args }, (_, i) => unknown(i));
      this.calls.set(name, {
        name,
        number,
        args: fields,
        returns: undefined,
        forks: FORKS.has(name),
        isExact: false,
      });
    }
    const calls = [...this.calls.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const byName = new Map(calls.map(call => [call.name, call]));
    return { calls, byName, resources: this.resources, flags: this.flags };
  }
}

const widthOf = (word: string): Width | undefined =>
  ({ int8: 1, int16: 2, int32: 4, int64: 8 })[word] as Width | undefined;

/** Lines without comments; a line that begins with a blank continues the one before it. */
function joined(text: string, name: string): { text: string; line: number }[] {
  const lines: { text: string; line: number }[] = [];
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.replace(/(^|\s)#.*$/, '').trimEnd();
    if (line === '') continue;
    if (/^\s/.test(line) || line === '}') {
      const last = lines.at(-1);
      if (!last) throw new FuzzError(`${name}:${i + 1}: the line continues nothing`);
      last.text += ` ${line.trim()}`;
    } else lines.push({ text: line, line: i + 1 });
  }
  return lines;
}

/**
 * The calls that `sources` describe, on the kernel's table of system calls. Errors: FuzzError with
 * file and line.
 */
export function parseDescriptions(
  rows: ReadonlyMap<string, SyscallRow>,
  sources: readonly Source[],
): Descriptions {
  const parser = new Parser(rows);
  for (const source of sources) parser.source(source);
  return parser.finish();
}
