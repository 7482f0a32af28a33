// The origin of records: what their context says of them. Millions of records have the same one, so
// it is compared by halves of words and described once. Listeners compare origins by identity.

import type { RamPort } from '../emulator/bus/device.ts';
import { CTX, KIND, RECORD } from './kcov-layout.ts';
import { readAddress } from './kcov-ram.ts';

/** The common fields of records that one context makes in one system call and mode. */
export interface KcovOrigin {
  tid: number;
  pid: number;
  /** System call number, -1 outside one. */
  syscall: number;
  context: 'task' | 'remote-task' | 'remote-interrupt';
  handle: bigint;
  /** Physical address of the context. */
  contextAddress: number;
  /** Number of the descriptor, from 1 in each boot. */
  descriptor: number;
  /** Recorded in a UNIQ mode, which reports each value once. */
  isUnique: boolean;
}

const CONTEXTS = { [KIND.TASK]: 'task', [KIND.REMOTE_TASK]: 'remote-task' } as Record<
  number,
  KcovOrigin['context']
>;

export const kindOf = (kind: number): KcovOrigin['context'] => CONTEXTS[kind] ?? 'remote-interrupt';

/** Words of 32 bits of a context that an origin consists of: TID to the end of DESCRIPTOR. */
const FIRST = CTX.TID;
const WORDS = (CTX.DESCRIPTOR + 8 - FIRST) / 4;

export class Origins {
  readonly #ram: RamPort;
  readonly #words = new Uint32Array(WORDS);
  #last: KcovOrigin | undefined;

  constructor(ram: RamPort) {
    this.#ram = ram;
  }

  /** The origin of a record of a context as it is now; the same object while nothing differs. */
  of(context: number, isCmp: boolean): KcovOrigin {
    const ram = this.#ram;
    const words = this.#words;
    const isUnique = (ram.read32(context + CTX.MODE) & (isCmp ? RECORD.CMP : RECORD.PC)) === 0;
    const last = this.#last;
    let isSame = last !== undefined && last.contextAddress === context && last.isUnique === isUnique;
    for (let i = 0; i < WORDS; i++) {
      const word = ram.read32(context + FIRST + 4 * i);
      if (words[i] === word) continue;
      words[i] = word;
      isSame = false;
    }
    if (isSame) return last!;
    this.#last = {
      tid: ram.read32(context + CTX.TID),
      pid: ram.read32(context + CTX.PID),
      syscall: ram.read32(context + CTX.SYSCALL) | 0,
      context: kindOf(ram.read32(context + CTX.KIND)),
      handle: ram.read64(context + CTX.HANDLE),
      contextAddress: context,
      descriptor: readAddress(ram, context + CTX.DESCRIPTOR),
      isUnique,
    };
    return this.#last;
  }
}
