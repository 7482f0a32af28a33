// The contents of the kcov descriptor of a hart's thread, read from guest memory.
import { CTX, RECORD } from '../../devices/kcov-layout.ts';
import type { Hart, Machine } from '../../emulator/index.ts';
import type { BufferView } from '../protocol.ts';

const SHOWN = 128;
const WORD = 8;
const MODES: readonly (readonly [bit: number, name: string])[] = [
  [RECORD.PC, 'PCs'],
  [RECORD.CMP, 'comparisons'],
  [RECORD.UNIQ_PC, 'distinct PCs'],
  [RECORD.UNIQ_EDGE, 'distinct edges'],
  [RECORD.UNIQ_CMP, 'distinct comparisons'],
];

/** Undefined: the hart records nowhere. */
export function bufferOf({ ram, board }: Machine, hart: Hart): BufferView | undefined {
  const context = board.kcov?.contextOf(hart.id);
  if (!context || !ram.has(context.address, CTX.SIZE)) return undefined;
  const word = (address: number): bigint => BigInt.asUintN(64, ram.read64(address));
  const area = Number(word(context.address + CTX.AREA));
  const words = Number(word(context.address + CTX.WORDS));
  const shown: string[] = [];
  for (let i = 0; i < Math.min(words, SHOWN) && ram.has(area + i * WORD, WORD); i++)
    shown.push(`0x${word(area + i * WORD).toString(16)}`);
  const names = MODES.filter(([bit]) => (context.mode & bit) !== 0).map(([, name]) => name);
  return {
    mode: names.join(', ') || 'off',
    tid: context.tid,
    handle: context.context === 'task' ? '' : `0x${context.handle.toString(16)}`,
    words,
    shown,
  };
}
