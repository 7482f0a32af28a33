/**
 * The few facts of RV64GC that finding calls and blocks needs. The emulator has the full decoder.
 */

export const OP_AUIPC = 0x17;
export const OP_BRANCH = 0x63;
export const OP_JALR = 0x67;
export const OP_JAL = 0x6f;
export const RA = 1;

/** B-type and J-type immediates and the compressed jumps (Unpriv §2.5, §27.4), as byte offsets. */
export const bImm = (w: number) =>
  ((w >> 31) << 12) | ((w << 4) & 0x800) | ((w >> 20) & 0x7e0) | ((w >> 7) & 0x1e);
export const jImm = (w: number) =>
  ((w >> 31) << 20) | (w & 0xff000) | ((w >> 9) & 0x800) | ((w >> 20) & 0x7fe);
export const cjImm = (h: number) =>
  (((h << 19) >> 31) << 11) | ((h >> 1) & 0x300) | ((h >> 7) & 0x10) | ((h << 2) & 0x400) | ((h >> 1) & 0x40) |
  ((h << 1) & 0x80) | ((h >> 2) & 0xe) | ((h << 3) & 0x20); // biome-ignore format: one immediate
export const cbImm = (h: number) =>
  (((h << 19) >> 31) << 8) | ((h >> 7) & 0x18) | ((h << 1) & 0xc0) | ((h >> 2) & 6) | ((h << 3) & 0x20);
