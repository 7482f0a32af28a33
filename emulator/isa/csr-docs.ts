// Writes docs/csrs.md from the CSR table, so that it cannot differ from the code.

import { CSRS, type CsrGuard, type CsrRow } from './csr.ts';

const HEAD = `# Control and status registers

Generated from \`emulator/isa/csr-table.ts\`; do not edit. To renew it:
\`UPDATE_DOCS=1 npx vitest run --project unit test/isa/csr-docs.test.ts\`

*Writable* lists the bits that a write can change; the others keep their value (WARL). *Rule* names
the behaviour in \`emulator/hart/csr-rules.ts\` beyond that mask. Sections are those of the editions
in [reading-guide.md](reading-guide.md). Access to a number that is not listed is an illegal
instruction.

| number | name | access | writable | at reset | rule | meaning |
| --- | --- | --- | --- | --- | --- | --- |
`;

const MODES = { 0: 'U', 1: 'S', 3: 'M' } as const;
const GUARDS: Readonly<Record<CsrGuard, string>> = {
  fs: 'while mstatus.FS is not Off',
  counter: 'below M as mcounteren and scounteren say',
  tvm: 'in S unless mstatus.TVM is set',
  sstc: 'in S with menvcfg.STCE and mcounteren.TM',
};
const ALL = (1n << 64n) - 1n;

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** Consecutive rows that differ only in their index share one line. */
interface Family {
  readonly first: CsrRow;
  readonly last: CsrRow;
}

const stem = (row: CsrRow): string => row.name.replace(/\d+$/, '');
const same = (a: CsrRow, b: CsrRow): boolean =>
  stem(a) === stem(b) && a.rule === b.rule && a.writable === b.writable && /\d$/.test(a.name);

function families(): Family[] {
  const found: Family[] = [];
  for (const row of CSRS) {
    const before = found.at(-1);
    if (before && same(before.last, row)) found[found.length - 1] = { first: before.first, last: row };
    else found.push({ first: row, last: row });
  }
  return found;
}

function line({ first, last }: Family): string {
  const number = (row: CsrRow): string => `0x${row.number.toString(16).padStart(3, '0')}`;
  const range = (text: (row: CsrRow) => string): string =>
    first === last ? text(first) : `${text(first)} to ${text(last)}`;
  const guard = first.guard === undefined ? '' : `; ${GUARDS[first.guard]}`;
  const needs = first.needs === undefined ? '' : `; with ${first.needs}`;
  const writable =
    first.readOnly || first.writable === 0n ? '-' : first.writable === ALL ? 'all' : hex(first.writable);
  const cells = [
    range(number),
    range(row => `\`${row.name}\``),
    `${MODES[first.priv]}${first.readOnly ? ', read' : ''}${guard}${needs}`,
    writable,
    hex(first.reset),
    first.rule === undefined ? '' : `\`${first.rule}\``,
    `${first.doc}${first.of === undefined ? '' : ` (bits ${hex(first.readable)} of ${first.of})`}; ${first.section}`,
  ];
  return `| ${cells.join(' | ')} |\n`;
}

export const csrDocs = (): string => HEAD + families().map(line).join('');
