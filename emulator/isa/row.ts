// One row of the instruction table: the name of an instruction, its bits and the few facts that
// engines cannot infer from them. Behaviour is written once per mnemonic in `emulator/engine`.
//
// A pattern is drawn as in the manual, 32 characters from bit 31 to bit 0: `0` and `1` are fixed,
// `.` belongs to an operand of the format, `-` is ignored by the hardware. Spaces separate fields
// for legibility. The table's test demands that the dots are exactly the bits that the format's
// operands cover.

import { CACHE_BLOCK_BYTES, type ExtensionName } from './extensions.ts';
import type { Format } from './fields.ts';

/**
 * The control flow after it: `serialize` = the engine must check privileged state and code again.
 */
export type Flow = 'next' | 'branch' | 'jump' | 'indirect' | 'trap' | 'serialize';

/** `block`: all of the cache block that rs1 points into. */
export type MemoryKind = 'none' | 'load' | 'store' | 'amo' | 'lr' | 'sc' | 'block';

export interface Memory {
  readonly kind: MemoryKind;
  /** Bytes of the access; 0 when there is none. */
  readonly bytes: 0 | 1 | 2 | 4 | 8 | typeof CACHE_BLOCK_BYTES;
  /**
   * A load that sign-extends. Singles that are loaded into f registers are NaN-boxed, not extended.
   */
  readonly signed: boolean;
}

/** The extension of the instruction; `priv` = the privileged architecture, which every hart has. */
export type Extension = ExtensionName | 'priv';

export interface Row<Name extends string = string> {
  readonly name: Name;
  readonly format: Format;
  readonly pattern: string;
  readonly ext: Extension;
  readonly flow: Flow;
  readonly mem: Memory;
}

const NO_MEMORY: Memory = { kind: 'none', bytes: 0, signed: false };

interface Attributes {
  readonly flow?: Flow;
  readonly mem?: Memory;
}

/** A function that makes rows of one extension. */
export const rowsOf =
  (ext: Extension) =>
  <const Name extends string>(
    name: Name,
    format: Format,
    pattern: string,
    attributes: Attributes = {},
  ): Row<Name> => ({
    name,
    format,
    pattern: pattern.replaceAll(' ', ''),
    ext,
    flow: attributes.flow ?? 'next',
    mem: attributes.mem ?? NO_MEMORY,
  });

export const block: Attributes = { mem: { kind: 'block', bytes: CACHE_BLOCK_BYTES, signed: false } };

type Bytes = 1 | 2 | 4 | 8;
export const load = (bytes: Bytes, signed = true): Attributes => ({ mem: { kind: 'load', bytes, signed } });
export const store = (bytes: Bytes): Attributes => ({ mem: { kind: 'store', bytes, signed: false } });
export const amo = (bytes: 4 | 8): Attributes => ({ mem: { kind: 'amo', bytes, signed: true } });
export const loadReserved = (bytes: 4 | 8): Attributes => ({ mem: { kind: 'lr', bytes, signed: true } });
export const storeConditional = (bytes: 4 | 8): Attributes => ({ mem: { kind: 'sc', bytes, signed: true } });
