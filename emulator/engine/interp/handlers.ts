// The list of interpreter handlers: each mnemonic once per existing instruction length, branches
// and `jal` in three variants: `far` = to another page; `near` = within the page, the displacement
// is one of records and needs no address translation; `back` = near and backwards or a call, where
// hot code is entered (R_ENTRY). `jalr` is `far` or a `return`. CSR instructions have one more for
// each class of CSRs with a fast path (semantics/system.ts).

import { type Insn, type Mnemonic, OP, OP_COUNT, ROWS, rowOf, type TableRow } from '../../isa/index.ts';
import { TABLE_C } from '../../isa/table-c.ts';
import { type CsrClass, csrClass, csrClassesOf } from '../semantics/system.ts';
import { H_FIRST_INSN } from './records.ts';

export interface Handler {
  readonly id: number;
  readonly name: Mnemonic;
  readonly bytes: 2 | 4;
  readonly reach: Reach;
  readonly csr?: CsrClass;
}

export type Reach = 'far' | 'near' | 'back' | 'return';
const REACHES: readonly Reach[] = ['far', 'near', 'back', 'return'];

/** True if this `jalr` is a return through a link register (Unpriv §2.5.1). */
export const isReturn = ({ rd, rs1 }: Insn): boolean => rd === 0 && (rs1 === 1 || rs1 === 5);

function reachesOf({ flow }: TableRow): readonly Reach[] {
  if (flow === 'branch' || flow === 'jump') return ['far', 'near', 'back'];
  return flow === 'indirect' ? ['far', 'return'] : ['far'];
}

const COMPRESSED = new Set<Mnemonic>(TABLE_C.map(row => row.base));

function list(): Handler[] {
  const handlers: Handler[] = [];
  for (const row of ROWS) {
    for (const bytes of COMPRESSED.has(row.name) ? ([4, 2] as const) : ([4] as const)) {
      for (const reach of reachesOf(row)) {
        handlers.push({ id: H_FIRST_INSN + handlers.length, name: row.name, bytes, reach });
      }
    }
    if (row.ext !== 'zicsr') continue;
    for (const csr of csrClassesOf(row.name)) {
      handlers.push({ id: H_FIRST_INSN + handlers.length, name: row.name, bytes: 4, reach: 'far', csr });
    }
  }
  return handlers;
}

export const HANDLERS: readonly Handler[] = list();

/** CSR instructions have no form of two bytes, so the numbers of its variants are theirs. */
const csrVariant = (name: Mnemonic, csr: CsrClass): number => 1 + csrClassesOf(name).indexOf(csr);

const index = (op: number, bytes: 2 | 4, variant: number): number => op * 8 + (bytes === 2 ? 4 : 0) + variant;
const IDS = new Uint16Array(OP_COUNT * 8);
for (const h of HANDLERS) {
  const variant = h.csr ? csrVariant(h.name, h.csr) : REACHES.indexOf(h.reach);
  IDS[index(OP[h.name], h.bytes, variant)] = h.id;
}

/** `variant` is FAR for what is not a jump or branch, and for CSRs without a fast path. */
export const handlerId = (op: number, bytes: 2 | 4, variant: number): number =>
  IDS[index(op, bytes, variant)]!;

/** The handler of a CSR instruction. */
export const csrHandlerId = (insn: Insn): number => {
  const kind = csrClass(insn);
  return handlerId(insn.op, 4, kind ? csrVariant(rowOf(insn.op).name, kind) : FAR);
};
export const FAR = 0;
export const NEAR = 1;
export const BACK = 2;
export const RETURN = 3;
