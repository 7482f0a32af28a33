// Seen-sets of the UNIQ modes, in guest RAM: which records a descriptor has reported already. A
// hash table with chains over a pool of nodes; kernel/opt/kcovguest/seen.c is the same in C, byte
// for byte. The set is emptied only when the descriptor is freed (UNIQ series: neither word 0 = 0
// nor KCOV_DISABLE clears it).

import type { RamPort } from '../emulator/bus/device.ts';
import { ERR, LIMIT, SEEN } from './kcov-layout.ts';
import { KcovFault, readAddress } from './kcov-ram.ts';

export type Verdict = 'new' | 'seen' | 'full' | 'limit';

/** Number of nodes that a hook may still compare. */
export class Steps {
  left: number = LIMIT.SEEN_STEPS;

  /** Returns the number of comparisons and restores the limit. */
  take(): number {
    const taken = LIMIT.SEEN_STEPS - this.left;
    this.left = LIMIT.SEEN_STEPS;
    return taken;
  }
}

/**
 * Hash of a record given as 32-bit halves. Programs cannot observe it; it equals the one in C so
 * that RAM is equal.
 */
export function seenHash(words: Uint32Array): number {
  let h = 0;
  for (const half of words) {
    h = Math.imul(h ^ half, 0x9e37_79b1);
    h ^= h >>> 15;
  }
  return h >>> 0;
}

/**
 * Inserts unless present. A shorter record than the set's nodes is padded with zeros. `limit` when
 * `steps` are spent before the end of the chain; nothing is stored then.
 */
export function seenInsert(ram: RamPort, seen: number, record: Uint32Array, steps: Steps): Verdict {
  if (seen % 8 !== 0 || !ram.has(seen, SEEN.SIZE)) throw new KcovFault(ERR.SEEN, seen);
  const halves = 2 * ram.read32(seen + SEEN.NODE_WORDS);
  const log2 = ram.read32(seen + SEEN.BUCKETS_LOG2);
  const nodes = readAddress(ram, seen + SEEN.NODES);
  const buckets = readAddress(ram, seen + SEEN.BUCKETS);
  const pool = readAddress(ram, seen + SEEN.POOL);
  const nodeBytes = SEEN.NODE_HEADER + 4 * halves;
  const isSound =
    halves >= record.length && halves <= 8 && log2 <= 24 && nodes < 0x8000_0000 && buckets % 4 === 0;
  if (!isSound || pool % 8 !== 0 || !ram.has(buckets, 4 << log2) || !ram.has(pool, nodes * nodeBytes)) {
    throw new KcovFault(ERR.SEEN, seen);
  }
  const words = padded(record, halves);
  const slot = buckets + 4 * (seenHash(words) & ((1 << log2) - 1));
  const head = ram.read32(slot);
  let length = 0;
  for (let link = head; link !== 0; link = ram.read32(pool + (link - 1) * nodeBytes)) {
    // A chain longer than the pool, or a link outside it: the guest has overwritten its own
    // kernel's data.
    if (link > nodes || ++length > nodes) throw new KcovFault(ERR.SEEN, seen);
    if (steps.left === 0) return 'limit';
    steps.left--;
    if (isEqual(ram, pool + (link - 1) * nodeBytes + SEEN.NODE_HEADER, words)) return 'seen';
  }
  const used = readAddress(ram, seen + SEEN.USED);
  if (used >= nodes) return 'full';
  const node = pool + used * nodeBytes;
  ram.write32(node, head);
  ram.write32(node + 4, 0);
  for (let i = 0; i < halves; i++) ram.write32(node + SEEN.NODE_HEADER + 4 * i, words[i]!);
  ram.write32(slot, used + 1);
  ram.write32(seen + SEEN.USED, used + 1);
  return 'new';
}

function isEqual(ram: RamPort, at: number, words: Uint32Array): boolean {
  for (let i = 0; i < words.length; i++) if (ram.read32(at + 4 * i) !== words[i]) return false;
  return true;
}

function padded(record: Uint32Array, halves: number): Uint32Array {
  if (record.length === halves) return record;
  const words = new Uint32Array(halves);
  words.set(record);
  return words;
}
