// Zba (address generation), Zbb (basic bit manipulation), Zbc (carry-less multiplication), Zbs
// (single bits): the bit-manipulation chapter of Unpriv. Zicond (conditional operations): its own
// chapter.

import { R, R2, SHIFT, SHIFTW } from './fields.ts';
import { rowsOf } from './row.ts';

const insnA = rowsOf('zba');
const insnB = rowsOf('zbb');
const insnC = rowsOf('zbc');
const insnS = rowsOf('zbs');
const insnCond = rowsOf('zicond');

// biome-ignore format: the columns are the manual's
export const TABLE_B = [
  insnA('add.uw',    R,      '0000100 ..... ..... 000 ..... 0111011'),
  insnA('sh1add',    R,      '0010000 ..... ..... 010 ..... 0110011'),
  insnA('sh2add',    R,      '0010000 ..... ..... 100 ..... 0110011'),
  insnA('sh3add',    R,      '0010000 ..... ..... 110 ..... 0110011'),
  insnA('sh1add.uw', R,      '0010000 ..... ..... 010 ..... 0111011'),
  insnA('sh2add.uw', R,      '0010000 ..... ..... 100 ..... 0111011'),
  insnA('sh3add.uw', R,      '0010000 ..... ..... 110 ..... 0111011'),
  insnA('slli.uw',   SHIFT,  '000010 ...... ..... 001 ..... 0011011'),

  insnB('andn',      R,      '0100000 ..... ..... 111 ..... 0110011'),
  insnB('orn',       R,      '0100000 ..... ..... 110 ..... 0110011'),
  insnB('xnor',      R,      '0100000 ..... ..... 100 ..... 0110011'),
  insnB('clz',       R2,     '0110000 00000 ..... 001 ..... 0010011'),
  insnB('ctz',       R2,     '0110000 00001 ..... 001 ..... 0010011'),
  insnB('cpop',      R2,     '0110000 00010 ..... 001 ..... 0010011'),
  insnB('clzw',      R2,     '0110000 00000 ..... 001 ..... 0011011'),
  insnB('ctzw',      R2,     '0110000 00001 ..... 001 ..... 0011011'),
  insnB('cpopw',     R2,     '0110000 00010 ..... 001 ..... 0011011'),
  insnB('max',       R,      '0000101 ..... ..... 110 ..... 0110011'),
  insnB('maxu',      R,      '0000101 ..... ..... 111 ..... 0110011'),
  insnB('min',       R,      '0000101 ..... ..... 100 ..... 0110011'),
  insnB('minu',      R,      '0000101 ..... ..... 101 ..... 0110011'),
  insnB('sext.b',    R2,     '0110000 00100 ..... 001 ..... 0010011'),
  insnB('sext.h',    R2,     '0110000 00101 ..... 001 ..... 0010011'),
  insnB('zext.h',    R2,     '0000100 00000 ..... 100 ..... 0111011'),
  insnB('rol',       R,      '0110000 ..... ..... 001 ..... 0110011'),
  insnB('rolw',      R,      '0110000 ..... ..... 001 ..... 0111011'),
  insnB('ror',       R,      '0110000 ..... ..... 101 ..... 0110011'),
  insnB('rorw',      R,      '0110000 ..... ..... 101 ..... 0111011'),
  insnB('rori',      SHIFT,  '011000 ...... ..... 101 ..... 0010011'),
  insnB('roriw',     SHIFTW, '0110000 ..... ..... 101 ..... 0011011'),
  insnB('orc.b',     R2,     '0010100 00111 ..... 101 ..... 0010011'),
  insnB('rev8',      R2,     '0110101 11000 ..... 101 ..... 0010011'),

  insnC('clmul',     R,      '0000101 ..... ..... 001 ..... 0110011'),
  insnC('clmulh',    R,      '0000101 ..... ..... 011 ..... 0110011'),
  insnC('clmulr',    R,      '0000101 ..... ..... 010 ..... 0110011'),

  insnS('bclr',      R,      '0100100 ..... ..... 001 ..... 0110011'),
  insnS('bclri',     SHIFT,  '010010 ...... ..... 001 ..... 0010011'),
  insnS('bext',      R,      '0100100 ..... ..... 101 ..... 0110011'),
  insnS('bexti',     SHIFT,  '010010 ...... ..... 101 ..... 0010011'),
  insnS('binv',      R,      '0110100 ..... ..... 001 ..... 0110011'),
  insnS('binvi',     SHIFT,  '011010 ...... ..... 001 ..... 0010011'),
  insnS('bset',      R,      '0010100 ..... ..... 001 ..... 0110011'),
  insnS('bseti',     SHIFT,  '001010 ...... ..... 001 ..... 0010011'),

  insnCond('czero.eqz', R,   '0000111 ..... ..... 101 ..... 0110011'),
  insnCond('czero.nez', R,   '0000111 ..... ..... 111 ..... 0110011'),
] as const;
