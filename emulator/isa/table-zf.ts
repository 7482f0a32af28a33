// Zfa (additional floating point) and Zfhmin (half precision: loads, stores, moves and conversions
// only), chapters of Unpriv. The halves of Zfa belong to Zfh, which the hart lacks.

import { F_TO_X, F_TO_X_RTZ, FCMP, FLI, FLOAD, FR, FR1_RM, FSTORE, X_TO_F } from './fields.ts';
import { load, rowsOf, store } from './row.ts';

const insnA = rowsOf('zfa');
const insnH = rowsOf('zfhmin');

// biome-ignore format: the columns are the manual's
export const TABLE_ZF = [
  insnA('fli.s',       FLI,        '1111000 00001 ..... 000 ..... 1010011'),
  insnA('fminm.s',     FR,         '0010100 ..... ..... 010 ..... 1010011'),
  insnA('fmaxm.s',     FR,         '0010100 ..... ..... 011 ..... 1010011'),
  insnA('fround.s',    FR1_RM,     '0100000 00100 ..... ... ..... 1010011'),
  insnA('froundnx.s',  FR1_RM,     '0100000 00101 ..... ... ..... 1010011'),
  insnA('fleq.s',      FCMP,       '1010000 ..... ..... 100 ..... 1010011'),
  insnA('fltq.s',      FCMP,       '1010000 ..... ..... 101 ..... 1010011'),
  insnA('fli.d',       FLI,        '1111001 00001 ..... 000 ..... 1010011'),
  insnA('fminm.d',     FR,         '0010101 ..... ..... 010 ..... 1010011'),
  insnA('fmaxm.d',     FR,         '0010101 ..... ..... 011 ..... 1010011'),
  insnA('fround.d',    FR1_RM,     '0100001 00100 ..... ... ..... 1010011'),
  insnA('froundnx.d',  FR1_RM,     '0100001 00101 ..... ... ..... 1010011'),
  insnA('fcvtmod.w.d', F_TO_X_RTZ, '1100001 01000 ..... 001 ..... 1010011'),
  insnA('fleq.d',      FCMP,       '1010001 ..... ..... 100 ..... 1010011'),
  insnA('fltq.d',      FCMP,       '1010001 ..... ..... 101 ..... 1010011'),

  insnH('flh',         FLOAD,      '............ ..... 001 ..... 0000111', load(2, false)),
  insnH('fsh',         FSTORE,     '....... ..... ..... 001 ..... 0100111', store(2)),
  insnH('fmv.x.h',     F_TO_X,     '1110010 00000 ..... 000 ..... 1010011'),
  insnH('fmv.h.x',     X_TO_F,     '1111010 00000 ..... 000 ..... 1010011'),
  insnH('fcvt.s.h',    FR1_RM,     '0100000 00010 ..... ... ..... 1010011'),
  insnH('fcvt.h.s',    FR1_RM,     '0100010 00000 ..... ... ..... 1010011'),
  insnH('fcvt.d.h',    FR1_RM,     '0100001 00010 ..... ... ..... 1010011'),
  insnH('fcvt.h.d',    FR1_RM,     '0100010 00001 ..... ... ..... 1010011'),
] as const;
