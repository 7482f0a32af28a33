// Value types and limits of the WebAssembly binary format (core spec 2.0 §5.3).

export const I32 = 0x7f;
export type I32 = typeof I32;
export const I64 = 0x7e;
export type I64 = typeof I64;
export const F32 = 0x7d;
export type F32 = typeof F32;
export const F64 = 0x7c;
export type F64 = typeof F64;

export type ValType = I32 | I64 | F32 | F64;

/** Block type of a block without parameters: no result, or one. */
export type BlockType = ValType | undefined;

/** Size limits: pages of 64 KiB for memories, elements for tables. */
export interface Limits {
  readonly min: number;
  readonly max?: number;
}

export type ExternKind = 'func' | 'table' | 'memory';

export const EXTERN_CODE: Record<ExternKind, number> = { func: 0, table: 1, memory: 2 };
