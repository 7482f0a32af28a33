// The public API of this module.

export * from './codec.ts';
export * from './csr.ts';
export * from './decoder.ts';
export * from './disasm.ts';
export * from './extensions.ts';
export { FLI_BITS } from './fli.ts';
export type { Extension, Flow, Memory, MemoryKind, Row } from './row.ts';
export { type Mnemonic, OP, OP_COUNT, ROWS, rowNamed, rowOf, type TableRow } from './table.ts';
