// `kcovbox dev rdl` against the grammar of SystemRDL 2.0 (annex B), the part that it uses: a parser
// that knows no other way, and what it reads must be the registers of the definition.
import { expect, test } from 'vitest';
import { defineDevice } from '../../devices/defined.ts';
import { rdlOf } from '../../emulator/bus/define-rdl.ts';

interface Field {
  name: string;
  high: number;
  low: number;
  reset: bigint;
  properties: Record<string, string>;
}
interface Register {
  name: string;
  at: number;
  count?: number;
  stride?: number;
  properties: Record<string, string>;
  fields: Field[];
  enums: Record<string, Record<string, number>>;
}

/** Recursive descent: each method is a rule of the grammar; anything else throws. */
class Parser {
  readonly #tokens: string[];
  #i = 0;

  constructor(text: string) {
    const token =
      /\s*("(?:[^"\\]|\\.)*"|\d+'[hd][0-9a-f]+|0x[0-9a-f]+|\d+|\\?[A-Za-z_]\w*|\+=|[{}[\]:;=@])/gy;
    this.#tokens = [];
    for (let end = 0; text.slice(end).trim() !== ''; end = token.lastIndex) {
      token.lastIndex = end;
      const found = token.exec(text)?.[1];
      if (found === undefined) throw new Error(`no token at ${text.slice(end, end + 30)}`);
      this.#tokens.push(found);
    }
  }

  #next(...wanted: string[]): string {
    const token = this.#tokens[this.#i++] ?? 'the end';
    if (wanted.length > 0 && !wanted.includes(token)) throw new Error(`${token}, not ${wanted.join(' or ')}`);
    return token;
  }

  #is = (token: string): boolean => this.#tokens[this.#i] === token;

  #name(): string {
    const name = this.#next();
    if (!/^\\?[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} is not a name`);
    if (/^(reg|field|encode|all|in|w1|na|sw)$/.test(name)) throw new Error(`${name} is a keyword`);
    return name.replace('\\', '');
  }

  #number(): bigint {
    const [, radix, digits] = /^(?:\d+'([hd]))?(.+)$/.exec(this.#next())!;
    return BigInt(radix === 'h' ? `0x${digits}` : digits!);
  }

  #property(into: Record<string, string>): void {
    const name = this.#next();
    into[name] = 'true';
    if (this.#is('=')) {
      this.#next('=');
      into[name] = this.#next();
    }
    this.#next(';');
  }

  #enum(): [string, Record<string, number>] {
    this.#next('enum');
    const name = this.#name();
    const members: Record<string, number> = {};
    for (this.#next('{'); !this.#is('}'); this.#next(';')) {
      const member = this.#name();
      this.#next('=');
      members[member] = Number(this.#number());
    }
    this.#next('}');
    this.#next(';');
    return [name, members];
  }

  #field(): Field {
    const properties: Record<string, string> = {};
    this.#next('field');
    for (this.#next('{'); !this.#is('}'); ) this.#property(properties);
    this.#next('}');
    const name = this.#name();
    this.#next('[');
    const high = Number(this.#number());
    this.#next(':');
    const low = Number(this.#number());
    this.#next(']');
    this.#next('=');
    const reset = this.#number();
    this.#next(';');
    return { name, high, low, reset, properties };
  }

  #register(): Register {
    const register: Register = { name: '', at: 0, properties: {}, fields: [], enums: {} };
    this.#next('reg');
    for (this.#next('{'); !this.#is('}'); ) {
      if (this.#is('field')) register.fields.push(this.#field());
      else if (this.#is('enum')) {
        const [name, members] = this.#enum();
        register.enums[name] = members;
      } else this.#property(register.properties);
    }
    this.#next('}');
    register.name = this.#name();
    if (this.#is('[')) {
      this.#next('[');
      register.count = Number(this.#number());
      this.#next(']');
    }
    this.#next('@');
    register.at = Number(this.#number());
    if (this.#is('+=')) {
      this.#next('+=');
      register.stride = Number(this.#number());
    }
    this.#next(';');
    return register;
  }

  map(): { name: string; properties: Record<string, string>; registers: Register[] } {
    const properties: Record<string, string> = {};
    const registers: Register[] = [];
    this.#next('addrmap');
    const name = this.#name();
    for (this.#next('{'); !this.#is('}'); )
      if (this.#is('reg')) registers.push(this.#register());
      else this.#property(properties);
    this.#next('}');
    this.#next(';');
    if (this.#i < this.#tokens.length) throw new Error('text behind the end');
    return { name, properties, registers };
  }
}

test('registers, fields, arrays, values, words and quotes', () => {
  const text = rdlOf(
    defineDevice({
      name: 'field',
      compatible: 'a,b',
      doc: 'A "quoted" \\ device',
      registers: {
        wide: { at: 8, bytes: 8, access: 'rw', doc: 'wide', reset: 2 ** 40 },
        reg: { at: 0, bytes: 1, access: 'r', doc: 'eight', reset: 255 },
        slots: {
          at: 64,
          access: 'rw',
          doc: 'an array',
          count: 4,
          stride: 16,
          reset: 0x30,
          w1c: 1,
          fields: {
            go: { bits: 0, doc: 'go' },
            mode: { bits: [4, 6], doc: 'mode', values: { slow: 0, all: 3 } },
            encode: { bits: [8, 31], doc: 'a keyword' },
          },
        },
      },
    }),
  );
  const { name, properties, registers } = new Parser(text).map();
  expect([name, properties['desc']]).toEqual(['field', '"A \\"quoted\\" \\\\ device"']);
  expect(registers.map(r => [r.name, r.at, r.properties['regwidth']])).toEqual([
    ['reg', 0, '8'],
    ['wide', 8, '64'],
    ['slots', 64, '32'],
  ]);
  const [reg, wide, slots] = registers as [Register, Register, Register];
  expect(reg.fields).toMatchObject([{ high: 7, low: 0, reset: 255n, properties: { sw: 'r', hw: 'w' } }]);
  expect(wide.fields).toMatchObject([{ high: 63, low: 0, reset: 2n ** 40n }]);
  expect(slots).toMatchObject({ count: 4, stride: 16, enums: { slots_mode_values: { slow: 0, all: 3 } } });
  expect(slots.fields).toMatchObject([
    { name: 'go', high: 0, low: 0, properties: { onwrite: 'woclr' } },
    { name: 'mode', high: 6, low: 4, reset: 3n, properties: { encode: 'slots_mode_values' } },
    { name: 'encode', high: 31, low: 8, reset: 0n },
  ]);
});

test('the parser refuses what is not SystemRDL', () => {
  for (const text of ['addrmap a {', 'addrmap reg { };', 'addrmap a { reg { } x; };', 'addrmap a { }; x'])
    expect(() => new Parser(text).map()).toThrow();
});
