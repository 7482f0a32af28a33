// Zicsr and Zifencei (Unpriv) and the privileged instructions (Priv §3.3, §10.2).

import { CSR, CSRI, NONE, SFENCE } from './fields.ts';
import { rowsOf } from './row.ts';

const insnCsr = rowsOf('zicsr');
const insnFence = rowsOf('zifencei');
const insn = rowsOf('priv');
const insnInval = rowsOf('svinval');
const serialize = { flow: 'serialize' } as const;

// biome-ignore format: the columns are the manual's
export const TABLE_SYSTEM = [
  insnCsr('csrrw',    CSR,    '............ ..... 001 ..... 1110011', serialize),
  insnCsr('csrrs',    CSR,    '............ ..... 010 ..... 1110011', serialize),
  insnCsr('csrrc',    CSR,    '............ ..... 011 ..... 1110011', serialize),
  insnCsr('csrrwi',   CSRI,   '............ ..... 101 ..... 1110011', serialize),
  insnCsr('csrrsi',   CSRI,   '............ ..... 110 ..... 1110011', serialize),
  insnCsr('csrrci',   CSRI,   '............ ..... 111 ..... 1110011', serialize),

  // imm, rs1 and rd are reserved for finer fences and ignored (Unpriv, "Zifencei").
  insnFence('fence.i', NONE,  '------------ ----- 001 ----- 0001111', serialize),

  insn('sret',        NONE,   '0001000 00010 00000 000 00000 1110011', serialize),
  insn('mret',        NONE,   '0011000 00010 00000 000 00000 1110011', serialize),
  insn('wfi',         NONE,   '0001000 00101 00000 000 00000 1110011', serialize),
  insn('sfence.vma',  SFENCE, '0001001 ..... ..... 000 00000 1110011', serialize),

  insnInval('sinval.vma',     SFENCE, '0001011 ..... ..... 000 00000 1110011', serialize),
  insnInval('sfence.w.inval', NONE,   '0001100 00000 00000 000 00000 1110011', serialize),
  insnInval('sfence.inval.ir', NONE,  '0001100 00001 00000 000 00000 1110011', serialize),
] as const;
