// The output of the guest by its lines: which byte stands at a place of the terminal, and where
// lines begin.
import type { Terminal as Xterm } from '@xterm/xterm';
import type { Opened } from '../protocol.ts';

type Printed = Opened['console'];

const NEWLINE = 10;

/** Bytes that were printed before `unit`: places are in order. */
export function printedAt(units: Float64Array, unit: number): number {
  let [low, high] = [0, units.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (units[middle]! < unit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first bytes of all lines. */
function lineStarts(bytes: Uint8Array): number[] {
  const starts = bytes.length > 0 ? [0] : [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
    if (at + 1 < bytes.length) starts.push(at + 1);
  return starts;
}

/** When a line begins, the next one behind a moment or the one before; undefined: there is none. */
export function lineBeside({ bytes, units }: Printed, unit: number, by: 1 | -1): number | undefined {
  const starts = lineStarts(bytes).map(at => units[at]!);
  return by > 0 ? starts.find(at => at > unit) : starts.findLast(at => at < unit);
}

/**
 * The byte that stands at a row and column of a terminal that shows `bytes`. Rows are counted up
 * from the cursor, because the oldest ones scroll away. A program that moves the cursor has its
 * text elsewhere; then the byte is one of another line. Undefined: nothing stands there.
 */
export function byteAt(xterm: Xterm, bytes: Uint8Array, row: number, column: number): number | undefined {
  const { active } = xterm.buffer;
  const cursor = active.baseY + active.cursorY;
  if (row > cursor) return undefined;
  let first = row; // of the rows of this line
  while (first > 0 && active.getLine(first)?.isWrapped) first--;
  let newlines = 0; // from that line to the cursor
  for (let y = row + 1; y <= cursor; y++) if (!active.getLine(y)?.isWrapped) newlines++;
  let end = bytes.length;
  for (; newlines > 0 && end > 0; newlines--) end = bytes.lastIndexOf(NEWLINE, end - 1);
  if (end < 0) return undefined;
  const start = end === 0 ? 0 : bytes.lastIndexOf(NEWLINE, end - 1) + 1;
  const at = start + (row - first) * xterm.cols + column;
  // Escape sequences and letters of several bytes take no columns, or fewer.
  const isPlain = bytes.subarray(start, end).every(byte => byte >= 0x20 && byte < 0x7f);
  if (start >= bytes.length) return undefined;
  return isPlain ? Math.max(start, Math.min(at, end - 1)) : start;
}
