// The contents of a kcov buffer at a moment, read from guest memory: of the context into which the
// hart records, or of the one that was recorded into last.
import { CTX, RECORD } from '../../devices/kcov-layout.ts';
import type { Hart, Machine } from '../../emulator/index.ts';
import type { BufferRow, BufferView } from '../protocol.ts';
import { type KcovLog, nameOf } from './kcov-log.ts';

/** Rows of a page. */
const ROWS_MAX = 100;
const WORD = 8;
const CMP_WORDS = 4;
const MODES: readonly (readonly [bit: number, name: string])[] = [
  [RECORD.PC, 'PCs'],
  [RECORD.CMP, 'comparisons'],
  [RECORD.UNIQ_PC, 'distinct PCs'],
  [RECORD.UNIQ_EDGE, 'distinct edges'],
  [RECORD.UNIQ_CMP, 'distinct comparisons'],
];
const ANY_CMP = RECORD.CMP | RECORD.UNIQ_CMP;
/** The place of a PC: its call, in front of the recorded address. */
type Describe = (pc: bigint) => { readonly function: string; readonly file: string; readonly line: number };

interface Buffer {
  readonly owner: string;
  readonly mode: string;
  readonly area: number;
  readonly words: number;
  readonly isCmp: boolean;
}

/** Rows from `from` on, or the last ones. Undefined: nothing has been recorded yet. */
export function bufferOf(
  machine: Machine,
  hart: Hart,
  log: KcovLog,
  describe: Describe,
  from = Number.POSITIVE_INFINITY,
): BufferView | undefined {
  const { ram, spent } = machine;
  const buffer = current(machine, hart) ?? latest(log, spent);
  if (!buffer || !ram.has(buffer.area, WORD)) return undefined;
  const word = (i: number): bigint => BigInt.asUintN(64, ram.read64(buffer.area + i * WORD));
  const count = word(0);
  const size = buffer.isCmp ? CMP_WORDS : 1;
  // Word 0 belongs to the user, who may store anything.
  let end = Number(count < 1_000_000n ? count : 0n);
  while (end > 0 && !ram.has(buffer.area, WORD * (1 + end * size))) end = Math.floor(end / 2);
  const rows: BufferRow[] = [];
  const start = Math.max(0, Math.min(from, end - ROWS_MAX));
  for (let i = start; i < Math.min(end, start + ROWS_MAX); i++) {
    const at = 1 + i * size;
    const pc = word(at + size - 1);
    const { function: name, file, line } = describe(pc - 1n);
    const record = log.writer(buffer.area, i, spent);
    rows.push({
      index: i,
      word: hex(pc),
      address: `0x${(buffer.area + at * WORD).toString(16)}`,
      function: name,
      file,
      line,
      unit: record === undefined ? undefined : log.unitOf(record),
      comparison: buffer.isCmp ? comparison(word(at), word(at + 1), word(at + 2)) : undefined,
    });
  }
  const { owner, mode, words } = buffer;
  const address = `0x${buffer.area.toString(16)}`;
  return { owner, mode, words, count: count.toLocaleString('en-US'), address, records: end, rows };
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** Type, two operands: bit 0 of the type says that the first is a constant. */
function comparison(type: bigint, first: bigint, second: bigint): string {
  const bits = 8 << Number((type >> 1n) & 3n);
  return `${hex(first)}${type & 1n ? ' (constant)' : ''} with ${hex(second)}, ${bits} bits`;
}

function current({ ram, board }: Machine, hart: Hart): Buffer | undefined {
  const context = board.kcov?.contextOf(hart.id);
  if (!context || context.mode === 0 || !ram.has(context.address, CTX.SIZE)) return undefined;
  const word = (at: number): number => Number(BigInt.asUintN(64, ram.read64(context.address + at)));
  const names = MODES.filter(([bit]) => (context.mode & bit) !== 0).map(([, name]) => name);
  const isEdge = (context.mode & (RECORD.PC | RECORD.UNIQ_PC | ANY_CMP)) === 0;
  return {
    owner: context.context === 'task' ? `thread ${context.tid}` : `remote section ${hex(context.handle)}`,
    mode: `records ${names.join(', ')}`,
    area: word(isEdge ? CTX.EDGE_AREA : CTX.AREA),
    words: word(CTX.WORDS),
    isCmp: (context.mode & ANY_CMP) !== 0,
  };
}

function latest(log: KcovLog, unit: number): Buffer | undefined {
  const record = log.before(unit);
  if (record < 0) return undefined;
  const { origin, area, isCmp } = log.at(record);
  return { owner: nameOf(origin), mode: 'does not record on this hart now', area, words: 0, isCmp };
}
