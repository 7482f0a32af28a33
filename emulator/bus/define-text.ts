// The texts that follow from a definition: a C header, a Markdown page, and the registers of a
// device that is looked at. One row of a register is in each of them the same row.

import { hex } from '../base/bits.ts';
import type { DeviceDefinition, FieldSpec, RegisterSpec } from './define.ts';

const upper = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/\W/g, '_')
    .toUpperCase();
const bitsOf = ({ bits }: FieldSpec): [number, number] =>
  typeof bits === 'number' ? [bits, bits] : [...bits];
const rowsOf = (d: DeviceDefinition): [string, RegisterSpec][] =>
  Object.entries<RegisterSpec>(d.registers).sort(([, a], [, b]) => a.at - b.at);
/** On one line, without characters that control a terminal or the direction of a text. */
const one = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').replaceAll('*/', '* /');

function maskOf(field: FieldSpec): number {
  const [low, high] = bitsOf(field);
  return ((2 ** (high - low + 1) - 1) * 2 ** low) >>> 0;
}

const ACCESS = { r: 'read', w: 'write', rw: 'read, write' } as const;

/**
 * The access of software to some bits of a register: `short` as data sheets abbreviate it, `long`
 * in words. Bits that writing 1 clears (`w1c`) are named where they are not all.
 */
function accessOf({ access, w1c = 0 }: RegisterSpec, mask: number): { short: string; long: string } {
  const cleared = (w1c & mask) >>> 0;
  if (cleared === 0) return { short: access, long: ACCESS[access] };
  if (cleared === mask) return { short: 'w1c', long: 'read, write 1 to clear' };
  return {
    short: `${access}, w1c ${hex(cleared)}`,
    long: `${ACCESS[access]}; bits ${hex(cleared)}: write 1 to clear`,
  };
}

const wholeOf = ({ bytes = 4 }: RegisterSpec): number => (2 ** Math.min(32, 8 * bytes) - 1) >>> 0;

/** `NAME.h`: offsets, masks and shifts of fields, and names of values. */
export function headerOf(d: DeviceDefinition): string {
  const prefix = upper(d.name);
  const lines = [`/* ${one(d.doc)} Generated from its definition; do not edit. */`, '#pragma once', ''];
  const define = (name: string, value: string, doc = ''): void => {
    lines.push(`#define ${prefix}_${name} ${value}${doc === '' ? '' : ` /* ${one(doc)} */`}`);
  };
  lines.push(`#define ${prefix}_COMPATIBLE "${d.compatible}"`);
  for (const [id, register] of rowsOf(d)) {
    const { at, doc, count, stride, bytes = 4, fields = {} } = register;
    const name = upper(id);
    define(name, hex(at), `[${accessOf(register, wholeOf(register)).short}] ${doc}`);
    if (count !== undefined) {
      define(`${name}_COUNT`, String(count));
      define(`${name}_STRIDE`, String(stride ?? bytes));
    }
    for (const [field, spec] of Object.entries(fields)) {
      const full = `${name}_${upper(field)}`;
      const mask = maskOf(spec);
      define(full, `${hex(mask)}u`, `[${accessOf(register, mask).short}] ${spec.doc}`);
      if (bitsOf(spec)[0] !== bitsOf(spec)[1]) define(`${full}_SHIFT`, String(bitsOf(spec)[0]));
      for (const [value, number] of Object.entries(spec.values ?? {}))
        define(`${full}_${upper(value)}`, String(number));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** The first macro that the header has twice; undefined: none. */
export function repeatedMacro(d: DeviceDefinition): string | undefined {
  const seen = new Set<string>();
  for (const [, name] of headerOf(d).matchAll(/^#define (\w+)/gm)) {
    if (seen.has(name!)) return name;
    seen.add(name!);
  }
  return undefined;
}

const cell = (text: string): string => one(text).replaceAll('|', '\\|');

/** A page for people: registers, fields and parameters. */
export function pageOf(d: DeviceDefinition): string {
  const table = (head: string[], rows: string[][]): string =>
    [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
  const registers = rowsOf(d).map(([id, r]) => [
    hex(r.at) + (r.count === undefined ? '' : ` + ${hex(r.stride ?? r.bytes ?? 4)} n, n < ${r.count}`),
    String(r.bytes ?? 4),
    `\`${id}\``,
    accessOf(r, wholeOf(r)).long,
    hex(r.reset ?? 0),
    cell(r.doc),
  ]);
  const parts = [
    `# ${d.name}`,
    cell(d.doc),
    `Compatible: \`${d.compatible}\``,
    table(['offset', 'bytes', 'register', 'access', 'reset', 'meaning'], registers),
  ];
  for (const [id, register] of rowsOf(d)) {
    if (!register.fields) continue;
    const rows = Object.entries(register.fields).map(([name, f]) => {
      const [low, high] = bitsOf(f);
      const values = Object.entries(f.values ?? {}).map(([text, n]) => `${n} ${one(text)}`);
      return [
        low === high ? String(low) : `${high}:${low}`,
        `\`${name}\``,
        accessOf(register, maskOf(f)).long,
        cell([f.doc, ...values].join('; ')),
      ];
    });
    parts.push(`## ${id}`, table(['bits', 'field', 'access', 'meaning'], rows));
  }
  const params = Object.entries(d.params ?? {});
  if (params.length > 0)
    parts.push(
      '## Parameters',
      table(
        ['name', 'default'],
        params.map(([n, v]) => [`\`${n}\``, String(v)]),
      ),
    );
  return `${parts.join('\n\n')}\n`;
}

/** The registers and fields with their values, one line each; `peek` reads without side effects. */
export function panelOf(d: DeviceDefinition, peek: (offset: number, bytes: number) => number): string {
  const lines: string[] = [];
  const line = (at: string, name: string, value: string, doc: string): void => {
    lines.push(`${at.padEnd(8)}${name.padEnd(24)}${value.padEnd(20)}${doc}`);
  };
  for (const [id, r] of rowsOf(d)) {
    const { bytes = 4, count = 1, stride = bytes, fields = {} } = r;
    for (let i = 0; i < count; i++) {
      const at = r.at + i * stride;
      const low = peek(at, Math.min(bytes, 4));
      const high = bytes === 8 ? peek(at + 4, 4) : 0;
      line(hex(at), count > 1 ? `${id}[${i}]` : id, hex(high * 2 ** 32 + low), i === 0 ? one(r.doc) : '');
      for (const [name, spec] of Object.entries(fields)) {
        const value = Math.floor((low & maskOf(spec)) >>> 0) >>> bitsOf(spec)[0];
        const [text] = Object.entries(spec.values ?? {}).find(([, n]) => n === value) ?? [];
        line('', `  .${name}`, text === undefined ? String(value) : `${value} (${one(text)})`, one(spec.doc));
      }
    }
  }
  return `${lines.map(text => text.trimEnd()).join('\n')}\n`;
}
