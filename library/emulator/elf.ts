// The symbols of an executable.
import { aString, bytesOf } from '../../emulator/base/arguments.ts';
import { readElf } from '../../emulator/index.ts';
import { check } from './checks.ts';

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
export function readSymbols(bytes: Uint8Array, name = 'image'): readonly ElfSymbol[] {
  check('readSymbols', ['bytes', bytes, bytesOf('an executable')], ['name', name, aString]);
  return readElf(bytes, name).symbols;
}
