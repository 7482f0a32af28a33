// The origin of records: what their context says of them. Millions of records have the same one, so
// it is compared by halves of words and described once. Listeners compare origins by identity: one
// object has the same origin, though equal origins may be several objects.

import type { RamPort } from '../emulator/bus/device.ts';
import { CTX, KIND, RECORD } from './kcov-layout.ts';

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
export const ORIGIN_WORDS = (CTX.DESCRIPTOR + 8 - FIRST) / 4;
const [TID, SYSCALL] = [(CTX.TID - FIRST) / 4, (CTX.SYSCALL - FIRST) / 4] as const;

/**
 * Origins that are remembered, a power of two: a thread that makes system calls alternates between
 * some.
 */
const SLOTS = 64;

interface Slot {
  readonly words: Uint32Array;
  context: number;
  isUnique: boolean;
  origin: KcovOrigin | undefined;
}

export class Origins {
  readonly #ram: RamPort;
  readonly #words = new Uint32Array(ORIGIN_WORDS);
  /** The one of the last record. */
  #last: Slot | undefined;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => ({
    ...{ words: new Uint32Array(ORIGIN_WORDS), context: 0, isUnique: false, origin: undefined },
  }));

  constructor(ram: RamPort) {
    this.#ram = ram;
  }

  /** The origin of a record of a context as it is now; the same object while nothing differs. */
  of(context: number, isCmp: boolean): KcovOrigin {
    const ram = this.#ram;
    const isUnique = (ram.read32(context + CTX.MODE) & (isCmp ? RECORD.CMP : RECORD.PC)) === 0;
    const last = this.#last;
    if (last?.origin && last.context === context && last.isUnique === isUnique) {
      let i = 0;
      while (i < ORIGIN_WORDS && ram.read32(context + FIRST + 4 * i) === last.words[i]) i++;
      if (i === ORIGIN_WORDS) return last.origin;
    }
    for (let i = 0; i < ORIGIN_WORDS; i++) this.#words[i] = ram.read32(context + FIRST + 4 * i);
    const slot = slotOf(this.#slots, this.#words, 0);
    this.#last = slot;
    return originIn(slot, this.#words, 0, context, isUnique);
  }

  /** The origin whose words, from TID on, lie at `words[at]`. */
  ofWords(words: Uint32Array, at: number, context: number, isUnique: boolean): KcovOrigin {
    return originIn(slotOf(this.#slots, words, at), words, at, context, isUnique);
  }
}

const slotOf = (slots: readonly Slot[], words: Uint32Array, at: number): Slot =>
  slots[(words[at + TID]! + words[at + SYSCALL]!) & (SLOTS - 1)]!;

function originIn(
  slot: Slot,
  words: Uint32Array,
  at: number,
  context: number,
  isUnique: boolean,
): KcovOrigin {
  const { origin } = slot;
  if (origin && slot.context === context && slot.isUnique === isUnique) {
    let i = 0;
    while (i < ORIGIN_WORDS && slot.words[i] === words[at + i]) i++;
    if (i === ORIGIN_WORDS) return origin;
  }
  for (let i = 0; i < ORIGIN_WORDS; i++) slot.words[i] = words[at + i]!;
  slot.context = context;
  slot.isUnique = isUnique;
  slot.origin = describe(slot.words, context, isUnique);
  return slot.origin;
}

function describe(words: Uint32Array, contextAddress: number, isUnique: boolean): KcovOrigin {
  const word = (offset: number): number => words[(offset - FIRST) / 4]!;
  return {
    tid: word(CTX.TID),
    pid: word(CTX.PID),
    syscall: word(CTX.SYSCALL) | 0,
    context: kindOf(word(CTX.KIND)),
    handle: (BigInt(word(CTX.HANDLE + 4)) << 32n) | BigInt(word(CTX.HANDLE)),
    contextAddress,
    descriptor: word(CTX.DESCRIPTOR + 4) * 0x1_0000_0000 + word(CTX.DESCRIPTOR),
    isUnique,
  };
}
