/** The effects of an instruction other than its result (Unpriv §2.5, §2.6, §27). */
import type { Addr } from '../base/bytes.ts';
import type { CodeScan } from './code.ts';
import type { CodeRange, ImageFlow } from './flow.ts';
import { jumpOf } from './jumps.ts';

const OP_STORE = 0x23;
const OP_STORE_FP = 0x27;
const OP_MISC_MEM = 0x0f;
const OP_AMO = 0x2f;
const OP_SYSTEM = 0x73;
const SP = 2;
/** The frame pointer, of kernels that have one. */
const S0 = 8;

/**
 * - `effect`: it calls, leaves the function other than by a return, stores outside of the frame, or
 *   orders accesses.
 * - `branch`: it chooses between two successors.
 */
export type Effect = 'effect' | 'branch' | 'none';

/** `at` is the offset of an instruction of the function `range` in its section. */
function effectOf(code: CodeScan, at: number, range: CodeRange): Effect {
  const jump = jumpOf(code, at);
  if (jump?.kind === 'branch') return 'branch';
  if (jump?.kind === 'jump') return jump.to < range.low || jump.to >= range.high ? 'effect' : 'none';
  if (jump && jump.kind !== 'return' && jump.kind !== 'address') return 'effect';
  const half = code.view.getUint16(at, true);
  if ((half & 3) !== 3) {
    // c.fsd, c.sw, c.sd; their base is one of x8 to x15
    const isStore = (half & 3) === 0 && half >>> 13 >= 5;
    return isStore && 8 + ((half >> 7) & 7) !== S0 ? 'effect' : 'none';
  }
  const word = code.view.getInt32(at, true);
  switch (word & 0x7f) {
    case OP_STORE:
    case OP_STORE_FP: {
      const base = (word >> 15) & 31;
      return base === SP || base === S0 ? 'none' : 'effect';
    }
    case OP_MISC_MEM:
    case OP_AMO:
    case OP_SYSTEM:
      return 'effect';
    default:
      return 'none';
  }
}

/**
 * The instructions in `ranges` (low, high, low, high, ...) with their effects. Code that is in no
 * function or no section counts as one instruction with an effect.
 */
export function* effectsIn(
  scans: readonly CodeScan[],
  flow: ImageFlow,
  ranges: readonly Addr[],
): Generator<[addr: Addr, effect: Effect]> {
  for (let i = 0; i < ranges.length; i += 2) {
    const [low, high] = [ranges[i]!, ranges[i + 1]!];
    const scan = scans.find(({ base, size }) => low >= base && low < base + size);
    const range = flow.rangeAt(low);
    if (!scan || !range) yield [low, 'effect'];
    else
      for (let at = low - scan.base; at < high - scan.base; at += scan.length(at))
        yield [scan.base + at, effectOf(scan, at, range)];
  }
}
