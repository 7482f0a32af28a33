// M (multiply, divide) and A (LR/SC, atomic read-modify-write): the "M" and "A" chapters of Unpriv.

import { AMO, LR, R } from './fields.ts';
import { amo, loadReserved, rowsOf, storeConditional } from './row.ts';

const insnM = rowsOf('m');
const insnA = rowsOf('a');

// biome-ignore format: the columns are the manual's
export const TABLE_MA = [
  insnM('mul',       R,   '0000001 ..... ..... 000 ..... 0110011'),
  insnM('mulh',      R,   '0000001 ..... ..... 001 ..... 0110011'),
  insnM('mulhsu',    R,   '0000001 ..... ..... 010 ..... 0110011'),
  insnM('mulhu',     R,   '0000001 ..... ..... 011 ..... 0110011'),
  insnM('div',       R,   '0000001 ..... ..... 100 ..... 0110011'),
  insnM('divu',      R,   '0000001 ..... ..... 101 ..... 0110011'),
  insnM('rem',       R,   '0000001 ..... ..... 110 ..... 0110011'),
  insnM('remu',      R,   '0000001 ..... ..... 111 ..... 0110011'),
  insnM('mulw',      R,   '0000001 ..... ..... 000 ..... 0111011'),
  insnM('divw',      R,   '0000001 ..... ..... 100 ..... 0111011'),
  insnM('divuw',     R,   '0000001 ..... ..... 101 ..... 0111011'),
  insnM('remw',      R,   '0000001 ..... ..... 110 ..... 0111011'),
  insnM('remuw',     R,   '0000001 ..... ..... 111 ..... 0111011'),

  insnA('lr.w',      LR,  '00010 . . 00000 ..... 010 ..... 0101111', loadReserved(4)),
  insnA('sc.w',      AMO, '00011 . . ..... ..... 010 ..... 0101111', storeConditional(4)),
  insnA('amoswap.w', AMO, '00001 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amoadd.w',  AMO, '00000 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amoxor.w',  AMO, '00100 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amoand.w',  AMO, '01100 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amoor.w',   AMO, '01000 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amomin.w',  AMO, '10000 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amomax.w',  AMO, '10100 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amominu.w', AMO, '11000 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('amomaxu.w', AMO, '11100 . . ..... ..... 010 ..... 0101111', amo(4)),
  insnA('lr.d',      LR,  '00010 . . 00000 ..... 011 ..... 0101111', loadReserved(8)),
  insnA('sc.d',      AMO, '00011 . . ..... ..... 011 ..... 0101111', storeConditional(8)),
  insnA('amoswap.d', AMO, '00001 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amoadd.d',  AMO, '00000 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amoxor.d',  AMO, '00100 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amoand.d',  AMO, '01100 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amoor.d',   AMO, '01000 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amomin.d',  AMO, '10000 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amomax.d',  AMO, '10100 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amominu.d', AMO, '11000 . . ..... ..... 011 ..... 0101111', amo(8)),
  insnA('amomaxu.d', AMO, '11100 . . ..... ..... 011 ..... 0101111', amo(8)),
] as const;
