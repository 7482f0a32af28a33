// The list of interpreter handlers: each mnemonic once per instruction length that exists, branches and `jal` once more
// for targets within their page ("near": the displacement is one of records and needs no address translation).

import { type Mnemonic, OP, OP_COUNT, ROWS } from '../isa/index.ts';
import { TABLE_C } from '../isa/table-c.ts';
import { H_FIRST_INSN } from './records.ts';

export interface Handler {
  readonly id: number;
  readonly name: Mnemonic;
  readonly bytes: 2 | 4;
  readonly near: boolean;
}

const COMPRESSED = new Set<Mnemonic>(TABLE_C.map(row => row.base));

function list(): Handler[] {
  const handlers: Handler[] = [];
  for (const row of ROWS) {
    const isJump = row.flow === 'branch' || row.flow === 'jump';
    for (const bytes of COMPRESSED.has(row.name) ? ([4, 2] as const) : ([4] as const)) {
      for (const near of isJump ? [false, true] : [false]) {
        handlers.push({ id: H_FIRST_INSN + handlers.length, name: row.name, bytes, near });
      }
    }
  }
  return handlers;
}

export const HANDLERS: readonly Handler[] = list();

/** IDS[op * 4 + (bytes === 2 ? 2 : 0) + (near ? 1 : 0)] */
const IDS = new Uint16Array(OP_COUNT * 4);
for (const h of HANDLERS) IDS[OP[h.name] * 4 + (h.bytes === 2 ? 2 : 0) + (h.near ? 1 : 0)] = h.id;

export const handlerId = (op: number, bytes: 2 | 4, near: boolean): number =>
  IDS[op * 4 + (bytes === 2 ? 2 : 0) + (near ? 1 : 0)]!;
