// A definition as SystemRDL 2.0 (Accellera, January 2018), for the tools that read it: PeakRDL and
// others make headers, UVM models, IP-XACT and pages of it.

import { hex } from '../base/bits.ts';
import { HostError } from '../base/errors.ts';
import type { DeviceDefinition, FieldSpec, RegisterSpec } from './define.ts';

/** Words that cannot be names (section 4.4, Table 3), unless they are escaped. */
const KEYWORDS = new Set(
  (
    'abstract accesstype addressingtype addrmap alias all bit boolean bothedge compact component ' +
    'componentwidth constraint default encode enum external false field fullalign hw inside internal ' +
    'level longint mem na negedge nonsticky number onreadtype onwritetype posedge property r rclr ref ' +
    'reg regalign regfile rset ruser rw rw1 signal string struct sw this true type unsigned w w1 wclr ' +
    'woclr woset wot wr wset wuser wzc wzs wzt'
  ).split(' '),
);

/** Names of fields and values are free: other characters become `_`, as in the C header. */
function nameOf(name: string): string {
  const id = name.replace(/\W/g, '_').replace(/^(?=\d|$)/, '_');
  return KEYWORDS.has(id) ? `\\${id}` : id;
}
const enumName = (register: string, field: string): string => nameOf(`${register}_${field}_values`);
const textOf = (text: string): string =>
  `"${text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, ' ').replace(/[\\"]/g, '\\$&')}"`;
const bitsOf = ({ bits }: FieldSpec): readonly [number, number] =>
  typeof bits === 'number' ? [bits, bits] : bits;

/** Hardware drives what software reads, and reads what software writes. */
const HARDWARE = { r: 'w', w: 'r', rw: 'rw' } as const;

interface Bits {
  readonly name: string;
  readonly doc: string;
  readonly low: number;
  readonly high: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The fields, or one over the whole register. Fields of SystemRDL cannot overlap. */
function fieldsOf({ fields = {}, bytes = 4, doc }: RegisterSpec): Bits[] {
  const all = Object.entries(fields).map(([name, field]) => {
    const [low, high] = bitsOf(field);
    return { name, doc: field.doc, low, high, values: field.values ?? {} };
  });
  return all.length > 0 ? all : [{ name: 'value', doc, low: 0, high: 8 * bytes - 1, values: {} }];
}

function enumOf(register: string, { name, low, high, values }: Bits): string[] {
  const rows = Object.entries(values);
  if (rows.length === 0) return [];
  const width = high - low + 1;
  const members = rows.map(([text, n]) => `      ${nameOf(text)} = ${width}'d${n};`);
  return [`    enum ${enumName(register, name)} {`, ...members, '    };'];
}

function fieldText(register: string, { access, reset = 0, w1c = 0 }: RegisterSpec, bits: Bits): string[] {
  const { name, doc, low, high, values } = bits;
  const width = high - low + 1;
  const part = (BigInt(reset) >> BigInt(low)) & ((1n << BigInt(width)) - 1n);
  const isW1c = low < 32 && (w1c >>> low) % 2 === 1;
  const properties = [
    `sw = ${access};`,
    `hw = ${HARDWARE[access]};`,
    ...(isW1c ? ['onwrite = woclr;'] : []),
    ...(Object.keys(values).length > 0 ? [`encode = ${enumName(register, name)};`] : []),
    `desc = ${textOf(doc)};`,
  ];
  return [
    `    field { ${properties.join(' ')} } ${nameOf(name)}[${high}:${low}] = ${width}'h${part.toString(16)};`,
  ];
}

function registerText(id: string, spec: RegisterSpec): string[] {
  const { at, bytes = 4, doc, count, stride = bytes } = spec;
  const fields = fieldsOf(spec);
  for (const a of fields)
    for (const b of fields)
      if (a !== b && a.low <= b.low && b.low <= a.high)
        throw new HostError(
          `register ${id}: fields ${a.name} and ${b.name} overlap, which SystemRDL cannot say`,
        );
  const array = count === undefined ? '' : `[${count}]`;
  const step = count === undefined ? '' : ` += ${hex(stride)}`;
  return [
    '  reg {',
    `    desc = ${textOf(doc)};`,
    `    regwidth = ${8 * bytes};`,
    ...(bytes === 8 ? ['    accesswidth = 32;'] : []),
    ...fields.flatMap(field => enumOf(id, field)),
    ...fields.flatMap(field => fieldText(id, spec, field)),
    `  } ${nameOf(id)}${array} @ ${hex(at)}${step};`,
  ];
}

/** The register map as an address map of SystemRDL. */
export function rdlOf(d: DeviceDefinition): string {
  const rows = Object.entries<RegisterSpec>(d.registers).sort(([, a], [, b]) => a.at - b.at);
  return `${[
    `addrmap ${nameOf(d.name)} {`,
    `  name = ${textOf(d.name)};`,
    `  desc = ${textOf(d.doc)};`,
    '  littleendian;',
    ...rows.flatMap(([id, spec]) => registerText(id, spec)),
    '};',
  ].join('\n')}\n`;
}
