// The symbols of an executable.
import { readElf } from '../../emulator/index.ts';

/** A named place in an executable. */
export interface ElfSymbol {
  readonly name: string;
  /** Virtual address. */
  readonly value: bigint;
  /** Bytes; 0n where the file does not say. */
  readonly size: bigint;
  readonly kind: 'func' | 'object' | 'other';
}

/**
 * The symbols of an ELF executable for RV64, in the order of its symbol table; none if it is
 * stripped.
 *
 * @param name - of the file, for messages.
 * @throws KcovboxError of kind `machine` if the file is anything else, or damaged.
 */
export const readSymbols = (bytes: Uint8Array, name = 'image'): readonly ElfSymbol[] =>
  readElf(bytes, name).symbols;
