// RV64C with F and D, and Zcb: the "C" and "Zc*" chapters of Unpriv. A compressed instruction is
// never executed as such: a row names its base instruction. Operands named in the text fill the
// base instruction's slots; `fixed` fills the rest.
//
// `not` lists operand values that belong to another row or are reserved. Hints (for example c.li
// with rd = x0) are ordinary rows: their expansion writes x0 and so does nothing. Every half-word
// that no row matches is illegal, in particular the all-zero one.

import { type Format, format, type Slot } from './fields.ts';
import type { Mnemonic } from './table.ts';

/** Values for slots of the base instruction. */
export type Fixed = Partial<Record<Slot, number>>;
/** Excluded values by operand name. */
export type Excluded = Readonly<Record<string, readonly number[]>>;

export interface CompressedRow {
  readonly name: string;
  readonly ext: 'c' | 'zcb';
  /** 16 characters, bit 15 first. */
  readonly pattern: string;
  readonly format: Format;
  readonly base: Mnemonic;
  readonly fixed: Fixed;
  readonly not: Excluded;
}

const aliasOf =
  (ext: CompressedRow['ext']) =>
  (
    name: string,
    pattern: string,
    text: string,
    base: Mnemonic,
    fixed: Fixed = {},
    not: Excluded = {},
  ): CompressedRow => ({
    name,
    ext,
    pattern: pattern.replaceAll(' ', ''),
    format: format(text),
    base,
    fixed,
    not,
  });

const alias = aliasOf('c');
const zcb = aliasOf('zcb');

const ZERO = [0];
const sp: Fixed = { rs1: 2 };

// biome-ignore format: the columns are the manual's
export const TABLE_C: readonly CompressedRow[] = [
  // Quadrant 0
  alias('c.addi4spn', '000 ........ ... 00',   'crdp, sp, imm4spn',      'addi', sp, { imm4spn: ZERO }),
  alias('c.fld',      '001 ... ... .. ... 00', 'cfdp, immCLd(crs1p)',    'fld'),
  alias('c.lw',       '010 ... ... .. ... 00', 'crdp, immCLw(crs1p)',    'lw'),
  alias('c.ld',       '011 ... ... .. ... 00', 'crdp, immCLd(crs1p)',    'ld'),
  alias('c.fsd',      '101 ... ... .. ... 00', 'cfs2p, immCLd(crs1p)',   'fsd'),
  alias('c.sw',       '110 ... ... .. ... 00', 'crs2p, immCLw(crs1p)',   'sw'),
  alias('c.sd',       '111 ... ... .. ... 00', 'crs2p, immCLd(crs1p)',   'sd'),

  // Quadrant 1
  alias('c.nop',      '000 . 00000 ..... 01',  'immCI',                  'addi', { rd: 0, rs1: 0 }),
  alias('c.addi',     '000 . ..... ..... 01',  'crdrs1, immCI',          'addi', {}, { crdrs1: ZERO }),
  alias('c.addiw',    '001 . ..... ..... 01',  'crdrs1, immCI',          'addiw', {}, { crdrs1: ZERO }),
  alias('c.li',       '010 . ..... ..... 01',  'crd, immCI',             'addi', { rs1: 0 }),
  alias('c.addi16sp', '011 . 00010 ..... 01',  'sp, imm16sp',            'addi', { rd: 2, rs1: 2 }, { imm16sp: ZERO }),
  alias('c.lui',      '011 . ..... ..... 01',  'crd, immLui',            'lui', {}, { crd: [2], immLui: ZERO }),
  alias('c.srli',     '100 . 00 ... ..... 01', 'crdrs1p, shamtCI',       'srli'),
  alias('c.srai',     '100 . 01 ... ..... 01', 'crdrs1p, shamtCI',       'srai'),
  alias('c.andi',     '100 . 10 ... ..... 01', 'crdrs1p, immCI',         'andi'),
  alias('c.sub',      '100 0 11 ... 00 ... 01', 'crdrs1p, crs2p',        'sub'),
  alias('c.xor',      '100 0 11 ... 01 ... 01', 'crdrs1p, crs2p',        'xor'),
  alias('c.or',       '100 0 11 ... 10 ... 01', 'crdrs1p, crs2p',        'or'),
  alias('c.and',      '100 0 11 ... 11 ... 01', 'crdrs1p, crs2p',        'and'),
  alias('c.subw',     '100 1 11 ... 00 ... 01', 'crdrs1p, crs2p',        'subw'),
  alias('c.addw',     '100 1 11 ... 01 ... 01', 'crdrs1p, crs2p',        'addw'),
  alias('c.j',        '101 ........... 01',    'immCJ',                  'jal', { rd: 0 }),
  alias('c.beqz',     '110 ... ... ..... 01',  'crs1p, immCB',           'beq', { rs2: 0 }),
  alias('c.bnez',     '111 ... ... ..... 01',  'crs1p, immCB',           'bne', { rs2: 0 }),

  // Quadrant 2
  alias('c.slli',     '000 . ..... ..... 10',  'crdrs1, shamtCI',        'slli'),
  alias('c.fldsp',    '001 . ..... ..... 10',  'cfd, immLdsp(sp)',       'fld', sp),
  alias('c.lwsp',     '010 . ..... ..... 10',  'crd, immLwsp(sp)',       'lw', sp, { crd: ZERO }),
  alias('c.ldsp',     '011 . ..... ..... 10',  'crd, immLdsp(sp)',       'ld', sp, { crd: ZERO }),
  alias('c.jr',       '100 0 ..... 00000 10',  'crs1',                   'jalr', { rd: 0, imm: 0 }, { crs1: ZERO }),
  alias('c.mv',       '100 0 ..... ..... 10',  'crd, crs2',              'add', { rs1: 0 }, { crs2: ZERO }),
  alias('c.ebreak',   '100 1 00000 00000 10',  '',                       'ebreak'),
  alias('c.jalr',     '100 1 ..... 00000 10',  'crs1',                   'jalr', { rd: 1, imm: 0 }, { crs1: ZERO }),
  alias('c.add',      '100 1 ..... ..... 10',  'crdrs1, crs2',           'add', {}, { crs2: ZERO }),
  alias('c.fsdsp',    '101 ...... ..... 10',   'cfs2, immSdsp(sp)',      'fsd', sp),
  alias('c.swsp',     '110 ...... ..... 10',   'crs2, immSwsp(sp)',      'sw', sp),
  alias('c.sdsp',     '111 ...... ..... 10',   'crs2, immSdsp(sp)',      'sd', sp),

  zcb('c.lbu',        '100 000 ... .. ... 00', 'crdp, immCLb(crs1p)',    'lbu'),
  zcb('c.lhu',        '100 001 ... 0. ... 00', 'crdp, immCLh(crs1p)',    'lhu'),
  zcb('c.lh',         '100 001 ... 1. ... 00', 'crdp, immCLh(crs1p)',    'lh'),
  zcb('c.sb',         '100 010 ... .. ... 00', 'crs2p, immCLb(crs1p)',   'sb'),
  zcb('c.sh',         '100 011 ... 0. ... 00', 'crs2p, immCLh(crs1p)',   'sh'),
  zcb('c.zext.b',     '100 111 ... 11000 01',  'crdrs1p',                'andi', { imm: 255 }),
  zcb('c.sext.b',     '100 111 ... 11001 01',  'crdrs1p',                'sext.b'),
  zcb('c.zext.h',     '100 111 ... 11010 01',  'crdrs1p',                'zext.h'),
  zcb('c.sext.h',     '100 111 ... 11011 01',  'crdrs1p',                'sext.h'),
  zcb('c.zext.w',     '100 111 ... 11100 01',  'crdrs1p',                'add.uw', { rs2: 0 }),
  zcb('c.not',        '100 111 ... 11101 01',  'crdrs1p',                'xori', { imm: -1 }),
  zcb('c.mul',        '100 111 ... 10 ... 01', 'crdrs1p, crs2p',         'mul'),
];
