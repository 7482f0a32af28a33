// The text of a program, one line a call:
//
//   r0 = openat(0xffffff9c, &"f\x00", 0x42, 0x1b6)
//   pipe2(&{>r1, >r2}, 0x0)
//   write(r2, &"\x01\x02", 0x2) !fail=3
//
// Numbers are hexadecimal; &X points to X, nil is NULL, another pointer is a number; {} is a
// struct, [] an array; out[N] is memory of N bytes for the kernel to fill; vma(N) is page N of the
// zone for mappings; rN is a resource: `rN =` names what a call returned, >rN one that it stored. A
// program has one text. Calls that two threads make at once end with !thread=1 and !thread=2; a
// line in front of all calls is then the order of the threads and its seed: "!schedule rw 0x5".
// Lines "!fault edu:irq-drop@2", in front of all calls too, are faults of devices, as
// `kcovbox run --fault` takes them; events count from the start of the program.
import { type Fault, HostError, parseFaults } from '../../emulator/index.ts';
import { RACE_ORDER } from '../../run/schedule-text.ts';
import { type Cursor, cursorOver } from '../language/cursor.ts';
import {
  type Descriptions,
  type Direction,
  FuzzError,
  type Resource,
  rootOf,
  type Type,
} from '../language/types.ts';
import { FAULTS_MAX, faultLines, keyOf } from './faults.ts';
import {
  type Arg,
  CALLS_MAX,
  type Call,
  type CallOrder,
  isRace,
  mask,
  type Program,
  VMA_PAGES,
  visit,
} from './program.ts';

const hex = (value: bigint): string => `0x${value.toString(16)}`;
const key = (call: number, out: number): string => `${call}.${out}`;
/** Most bytes of a program's text. */
const TEXT_MAX = 1 << 20;
const BYTES_MAX = 1 << 16;
/** Most characters of a line about all of a program. */
const WHOLE_MAX = 1000;
/** Characters of a line in a message. */
const LINE_MAX = 80;

export function programText(program: Program): string {
  const names = new Map<string, string>();
  for (const call of program.calls)
    visit(call, ({ arg }) => {
      if (arg.kind === 'ref') names.set(key(arg.call, arg.out), '');
    });
  // In the order in which they are made, not used: then a reader sees r0 first.
  let next = 0;
  const lines = program.calls.map((call, index) => {
    const name = (out: number): string | undefined => {
      if (!names.has(key(index, out))) return undefined;
      names.set(key(index, out), `r${next}`);
      return `r${next++}`;
    };
    const returned = name(0);
    let out = 0;
    const show = (type: Type, arg: Arg, direction: Direction): string => {
      if (type.kind === 'resource' && direction !== 'in') {
        const given = name(++out);
        const value = arg.kind === 'int' && arg.value !== 0n ? hex(arg.value) : '';
        return given ? `${value}>${given}` : hex(arg.kind === 'int' ? arg.value : 0n);
      }
      switch (arg.kind) {
        case 'int':
          return hex(arg.value);
        case 'ref':
          return names.get(key(arg.call, arg.out))!;
        case 'vma':
          return `vma(${arg.page})`;
        case 'bytes':
          return bytesText(arg.data, direction);
        case 'pointer':
          return type.kind === 'pointer' && arg.to ? `&${show(type.to, arg.to, type.direction)}` : 'nil';
        case 'group': {
          const items = arg.items.map((item, i) =>
            type.kind === 'struct'
              ? show(type.struct.fields[i]!.type, item, direction)
              : show((type as Type & { kind: 'array' }).of, item, direction),
          );
          return type.kind === 'struct' ? `{${items.join(', ')}}` : `[${items.join(', ')}]`;
        }
      }
    };
    const args = call.type.args.map(({ type }, i) => show(type, call.args[i]!, 'in'));
    const fail = call.failNth > 0 ? ` !fail=${call.failNth}` : '';
    const thread = call.thread > 0 ? ` !thread=${call.thread}` : '';
    return `${returned ? `${returned} = ` : ''}${call.type.name}(${args.join(', ')})${fail}${thread}\n`;
  });
  const { schedule, faults = [] } = program;
  const order = schedule && isRace(program) ? `!schedule ${schedule.order} ${hex(schedule.seed)}\n` : '';
  return order + faultLines(faults) + lines.join('');
}

function bytesText(data: Uint8Array, direction: Direction): string {
  if (direction === 'out') return `out[${data.length}]`;
  let text = '';
  for (const byte of data)
    text +=
      byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`;
  return `"${text}"`;
}

interface Made {
  readonly call: number;
  readonly out: number;
  readonly resource: Resource;
}

/** Reads the lines of one program. */
class Reader {
  readonly #named = new Map<string, Made>();
  readonly #calls: Call[] = [];
  #schedule: CallOrder | undefined;
  readonly #faults: Fault[] = [];
  readonly #descriptions: Descriptions;
  #out = 0;

  constructor(descriptions: Descriptions) {
    this.#descriptions = descriptions;
  }

  line(text: string, where: string): void {
    const c = cursorOver(text, where);
    let word = c.word();
    const name = c.has('=') ? word : undefined;
    if (name !== undefined) word = c.word();
    const type = this.#descriptions.byName.get(word);
    if (!type) throw c.error(`no call "${word}" is described`);
    if (this.#calls.length === CALLS_MAX) throw c.error(`a program has at most ${CALLS_MAX} calls`);
    c.take('(');
    this.#out = 0;
    const args = type.args.map((field, i) => {
      if (i > 0) c.take(',');
      return this.#arg(c, field.type, 'in');
    });
    c.take(')');
    const failNth = c.has('!fail=') ? Number(c.number()) : 0;
    const thread = c.has('!thread=1') ? 1 : c.has('!thread=2') ? 2 : 0;
    const call: Call = { type, args, failNth, thread };
    if (call.failNth < 0 || call.failNth > 0x7fff_ffff) throw c.error(`fail=${call.failNth} is out of range`);
    c.end();
    if (name !== undefined) {
      if (!type.returns) throw c.error(`${word} returns no resource`);
      this.#name(c, name, { call: this.#calls.length, out: 0, resource: type.returns });
    }
    this.#calls.push(call);
  }

  /** A line about all of the program. */
  whole(text: string, where: string): void {
    const line = text.trim();
    if (line.length > WHOLE_MAX) throw new FuzzError(`${where}: more than ${WHOLE_MAX} characters`);
    const fault = /^!fault (.*)$/.exec(line)?.[1];
    if (fault !== undefined) this.#addFaults(fault, where);
    else if (line.startsWith('!schedule')) this.#order(line, where);
    else
      throw new FuzzError(
        `${where}: expected !schedule or !fault, not ${JSON.stringify(line.slice(0, LINE_MAX))}`,
      );
  }

  #addFaults(text: string, where: string): void {
    if (this.#calls.length > 0) throw new FuzzError(`${where}: faults are lines in front of all calls`);
    for (const fault of told(where, () => parseFaults(text))) {
      if (this.#faults.some(other => keyOf(other) === keyOf(fault)))
        throw new FuzzError(`${where}: ${keyOf(fault)} is there twice`);
      if (this.#faults.push(fault) > FAULTS_MAX)
        throw new FuzzError(`${where}: a program has at most ${FAULTS_MAX} faults`);
    }
  }

  #order(line: string, where: string): void {
    const [, order, seed] = /^!schedule (\S+) 0x([0-9a-f]{1,16})$/.exec(line) ?? [];
    if (order === undefined || !RACE_ORDER.test(order))
      throw new FuzzError(`${where}: expected an order and a seed, such as "!schedule rw 0x5"`);
    if (this.#schedule || this.#calls.length > 0)
      throw new FuzzError(`${where}: the schedule is one line in front of all calls`);
    this.#schedule = { order, seed: BigInt(`0x${seed}`) };
  }

  finish(where: string): Program {
    const program: Program = {
      calls: this.#calls,
      schedule: this.#schedule,
      faults: this.#faults.length > 0 ? this.#faults : undefined,
    };
    if (isRace(program) !== (this.#schedule !== undefined))
      throw new FuzzError(`${where}: calls of a second thread (!thread=2) and a line !schedule go together`);
    return program;
  }

  #name(c: Cursor, name: string, made: Made): void {
    if (!/^r\d+$/.test(name)) throw c.error(`"${name}": a resource is named r and a number`);
    if (this.#named.has(name)) throw c.error(`${name} is made twice`);
    this.#named.set(name, made);
  }

  #arg(c: Cursor, type: Type, direction: Direction): Arg {
    switch (type.kind) {
      case 'int':
      case 'const':
      case 'flags':
      case 'len':
        return { kind: 'int', value: mask(c.number(), type.width) };
      case 'resource':
        return this.#resource(c, type.resource, direction);
      case 'pointer':
        if (c.has('nil')) return { kind: 'pointer', to: undefined };
        if (!c.sees('&')) return { kind: 'int', value: mask(c.number(), 8) };
        c.take('&');
        return { kind: 'pointer', to: this.#arg(c, type.to, type.direction) };
      case 'vma': {
        c.take('vma(');
        const page = Number(c.number());
        if (page < 0 || page >= VMA_PAGES) throw c.error(`vma(${page}): there are ${VMA_PAGES} pages`);
        c.take(')');
        return { kind: 'vma', page };
      }
      case 'string':
      case 'bytes':
        return { kind: 'bytes', data: readBytes(c) };
      case 'struct': {
        c.take('{');
        const items = type.struct.fields.map((field, i) => {
          if (i > 0) c.take(',');
          return this.#arg(c, field.type, direction);
        });
        c.take('}');
        return { kind: 'group', items };
      }
      case 'array': {
        c.take('[');
        const items: Arg[] = [];
        while (!c.has(']')) {
          if (items.length > 0) c.take(',');
          items.push(this.#arg(c, type.of, direction));
          if (items.length > BYTES_MAX) throw c.error(`an array has at most ${BYTES_MAX} items`);
        }
        return { kind: 'group', items };
      }
    }
  }

  #resource(c: Cursor, resource: Resource, direction: Direction): Arg {
    if (direction !== 'in') {
      const arg: Arg = { kind: 'int', value: c.sees('>') ? 0n : mask(c.number(), resource.width) };
      const out = ++this.#out;
      if (c.has('>')) this.#name(c, c.word(), { call: this.#calls.length, out, resource });
      return arg;
    }
    if (!c.sees('r')) return { kind: 'int', value: mask(c.number(), resource.width) };
    const name = c.word();
    const made = this.#named.get(name);
    if (!made || made.call === this.#calls.length) throw c.error(`no earlier call makes ${name}`);
    if (rootOf(made.resource) !== rootOf(resource))
      throw c.error(`${name} is a ${made.resource.name}, where ${resource.name} is wanted`);
    return { kind: 'ref', call: made.call, out: made.out, value: usual(resource) };
  }
}

/** An error about a fault names the place in the program. */
function told<T>(where: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new FuzzError(`${where}: ${error.message}`);
  }
}

export const usual = ({ special, width }: Resource): bigint => mask(special[0]!, width);

function readBytes(c: Cursor): Uint8Array {
  if (c.has('out[')) {
    const length = Number(c.number());
    if (length < 0 || length > BYTES_MAX) throw c.error(`out[${length}]: 0 to ${BYTES_MAX} are possible`);
    c.take(']');
    return new Uint8Array(length);
  }
  return Uint8Array.from(c.string(), character => character.charCodeAt(0));
}

/** Errors: FuzzError with the line, when `text` is no program of these descriptions. */
export function parseProgram(text: string, descriptions: Descriptions, name = 'program'): Program {
  if (text.length > TEXT_MAX) throw new FuzzError(`${name}: more than ${TEXT_MAX} characters`);
  const reader = new Reader(descriptions);
  for (const [i, line] of text.split('\n').entries())
    if (line.startsWith('!')) reader.whole(line, `${name}:${i + 1}`);
    else if (line.trim() !== '' && !line.startsWith('#')) reader.line(line, `${name}:${i + 1}`);
  return reader.finish(name);
}
