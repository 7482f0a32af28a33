// Fast paths of the system instructions that kernels execute often: reads and writes of the plain
// trap CSRs, interrupt enabling through mstatus and sstatus, ecall from U, sret, mret. Each emitter
// either does the whole instruction or branches to `slow` before it changed anything; the hart
// (emulator/hart/system.ts, trap.ts) is the full definition and does the rest: illegal accesses,
// WARL fields with side effects, pending interrupts, firmware in the host. Priv §3.1.6 (mstatus),
// §3.1.7, §3.3.2 (xret), §10.1.1 (sstatus).

import { M, S, U } from '../../hart/cause.ts';
import * as L from '../../hart/layout.ts';
import * as B from '../../hart/mstatus.ts';
import { CSRS, csrNamed } from '../../isa/csr.ts';
import { type Insn, type Mnemonic, OP } from '../../isa/index.ts';
import { I32, I64, type Label, type Local } from '../../wasm/module.ts';
import type { Ops } from './ops.ts';

export type CsrOp = 'swap' | 'set' | 'clear';
export type CsrClass = 'plain' | 'mstatus' | 'sstatus' | 'time';
const WRITABLE = ['plain', 'mstatus', 'sstatus'] as const;
/** Of the CSRs that an instruction may name. */
export const csrClassesOf = (name: Mnemonic): readonly CsrClass[] =>
  name === 'csrrs' ? [...WRITABLE, 'time'] : WRITABLE;

/** CSRs that are plain 64-bit fields of the window; `even` = bit 0 is always zero. */
export interface PlainCsr {
  readonly slot: number;
  readonly even: boolean;
}

const ALL_BITS = (1n << 64n) - 1n;
const EVEN_BITS = ALL_BITS - 1n;

/** Rows with storage, no rule and no guard, in which at most bit 0 is fixed. */
const PLAIN: ReadonlyMap<number, PlainCsr> = new Map(
  CSRS.filter(
    row =>
      row.slot !== undefined &&
      row.rule === undefined &&
      row.guard === undefined &&
      row.needs === undefined &&
      row.writable >= EVEN_BITS,
  ).map(row => [row.number, { slot: L.csrAt(row), even: row.writable === EVEN_BITS }]),
);
const MSTATUS = csrNamed('mstatus').number;
const SSTATUS = csrNamed('sstatus').number;
const TIME = csrNamed('time').number;
/** Of time in mcounteren and scounteren. */
const TM = 2;

export const plainCsr = (csr: number): PlainCsr | undefined => PLAIN.get(csr);

/** Of a CSR instruction; undefined: it has no fast path. `time` is only read, by `rdtime`. */
export function csrClass({ op, imm: csr, rs1 }: Insn): CsrClass | undefined {
  if (csr === MSTATUS) return 'mstatus';
  if (csr === SSTATUS) return 'sstatus';
  if (csr === TIME) return op === OP.csrrs && rs1 === 0 ? 'time' : undefined;
  return PLAIN.has(csr) ? 'plain' : undefined;
}

/** The effect of csrrw, csrrs and csrrc (and their immediate forms). */
export const csrOp = (name: string): CsrOp =>
  name.startsWith('csrrw') ? 'swap' : name.startsWith('csrrs') ? 'set' : 'clear';

/** A plain CSR access, with emitters for values that the interpreter fetches and the JIT knows. */
export interface PlainAccess {
  readonly op: CsrOp;
  /** i64. */
  operand(): void;
  /** i32: address of the slot. */
  slot(): void;
  /** i64: the bits that exist. */
  mask(): void;
  /** i32: privilege in the CSR's number. */
  privilege(): void;
}

export function emitPlainCsr(o: Ops, access: PlainAccess, slow: Label): void {
  const { c } = o;
  const [old, value] = [o.temp(I64), o.temp(I64)];
  privilegeNow(o);
  access.privilege();
  c.i32_lt_s().br_if(slow, 'unlikely');
  access.slot();
  c.i64_load().local_set(old);
  if (access.op !== 'swap') c.local_get(old);
  access.operand();
  if (access.op === 'set') c.i64_or();
  if (access.op === 'clear') c.i64_const(-1).i64_xor().i64_and();
  access.mask();
  c.i64_and().local_set(value);
  access.slot();
  c.local_get(value).i64_store();
  o.rd(() => void c.local_get(old));
}

/**
 * `rdtime`, a read of `time`, which counts units of virtual time in ticks (devices/clint.ts). Takes
 * the slow path where mtime was set, and unless both enable bits are, as firmware leaves them: then
 * each privilege may read it (Priv §3.1.11, §10.1.5).
 */
export function emitTime(o: Ops, slow: Label): void {
  const { c } = o;
  const tick = o.temp(I32);
  load(o, L.TIME_TICK);
  c.local_tee(tick).i32_eqz().br_if(slow, 'unlikely');
  load(o, L.MCOUNTEREN);
  load(o, L.SCOUNTEREN);
  c.i32_and().i32_const(TM).i32_and().i32_eqz().br_if(slow, 'unlikely');
  o.rd(() => {
    c.i32_const(0).i64_load(L.TIME);
    load(o, L.QUANTUM);
    o.left();
    c.i32_sub().i64_extend_i32_u().i64_add();
    c.local_get(tick).i64_extend_i32_u().i64_div_u();
  });
}

/** Fields whose change has no effect outside mstatus, apart from enabling interrupts. */
const CHEAP = B.SIE | B.MIE_BIT | B.SPIE | B.MPIE | B.SPP;
const ENABLES = B.SIE | B.MIE_BIT;

const STATUS = {
  mstatus: { mask: B.MSTATUS_MASK, shown: -1, high: B.XLEN_HI, privilege: M },
  sstatus: { mask: B.SSTATUS_MASK, shown: B.SSTATUS_MASK, high: B.UXL_HI, privilege: S },
} as const;

/**
 * Access to mstatus or sstatus; `operand` pushes i64. `viewChanged`: emits what is to be done in S
 * when SUM has changed, and with it the view of loads and stores in the window; absent: that is
 * slow.
 */
export function emitStatusCsr(
  o: Ops,
  csr: 'mstatus' | 'sstatus',
  op: CsrOp,
  operand: () => void,
  slow: Label,
  viewChanged?: () => void,
): void {
  const { c } = o;
  const { mask, shown, high, privilege } = STATUS[csr];
  const [old, value] = [o.temp(I32), o.temp(I32)];
  privilegeNow(o);
  c.i32_const(privilege).i32_lt_s().br_if(slow, 'unlikely');
  load(o, L.MSTATUS);
  c.local_set(old);
  operand();
  c.i32_wrap_i64().i32_const(mask).i32_and();
  if (op === 'clear') c.i32_const(-1).i32_xor().local_get(old).i32_and();
  else if (op === 'set') c.local_get(old).i32_or();
  else c.local_get(old).i32_const(~mask).i32_and().i32_or();
  c.local_tee(value).local_get(old).i32_xor();
  c.i32_const(~(viewChanged ? CHEAP | B.SUM : CHEAP))
    .i32_and()
    .br_if(slow, 'unlikely');
  c.local_get(old).i32_const(-1).i32_xor().local_get(value).i32_and().i32_const(ENABLES).i32_and();
  c.if_();
  pending(o);
  c.br_if(slow, 'unlikely').end();
  if (viewChanged) {
    c.local_get(value).local_get(old).i32_xor().i32_const(B.SUM).i32_and().if_();
    privilegeNow(o);
    c.i32_const(S).i32_ne().br_if(slow, 'unlikely');
    c.i32_const(0);
    viewIn(o, value, () => void c.i32_const(S));
    c.i32_store(L.DATA_VIEW);
    viewChanged();
    c.end();
  }
  c.i32_const(0).local_get(value).i32_store(L.MSTATUS);
  o.rd(() => {
    c.local_get(old).i32_const(shown).i32_and().i64_extend_i32_u();
    c.i64_const(BigInt(high) << 32n).i64_or();
    c.local_get(old).i32_const(B.FS).i32_and().i32_const(B.FS).i32_eq().i64_extend_i32_u();
    c.i64_const(63).i64_shl().i64_or();
  });
}

/**
 * Trap return. `leave` emits the exit, after PC, privilege and views in the window have changed.
 * Takes the slow path with pending interrupts, MPRV or TSR, and if the instruction is illegal.
 */
export function emitReturn(o: Ops, name: 'mret' | 'sret', slow: Label, leave: () => void): void {
  const { c } = o;
  const [status, priv] = [o.temp(I32), o.temp(I32)];
  const isM = name === 'mret';
  privilegeNow(o);
  c.i32_const(isM ? M : S)
    .i32_ne()
    .br_if(slow, 'unlikely');
  load(o, L.MSTATUS);
  c.local_tee(status)
    .i32_const(B.MPRV | (isM ? 0 : B.TSR))
    .i32_and()
    .br_if(slow, 'unlikely');
  pending(o);
  c.br_if(slow, 'unlikely');
  if (isM) c.local_get(status).i32_const(B.MPP_SHIFT).i32_shr_u().i32_const(3).i32_and();
  else c.local_get(status).i32_const(8).i32_shr_u().i32_const(1).i32_and();
  c.local_set(priv);
  const [enable, previous, mode] = isM ? [B.MIE_BIT, B.MPIE, B.MPP] : [B.SIE, B.SPIE, B.SPP];
  c.local_get(status)
    .i32_const(~(enable | mode))
    .i32_and();
  c.local_get(status).i32_const(previous).i32_and().i32_const(4).i32_shr_u().i32_or();
  c.i32_const(previous).i32_or().local_set(status);
  enterMode(o, status, priv);
  c.i32_const(0)
    .i32_const(0)
    .i64_load(isM ? L.MEPC : L.SEPC)
    .i64_store(L.PC);
  leave();
}

/**
 * System call from U, to S when delegated, else to M. `leave` as above; the caller counts the
 * instruction.
 */
export function emitEcall(o: Ops, slow: Label, leave: () => void): void {
  const { c } = o;
  const [status, priv] = [o.temp(I32), o.temp(I32)];
  privilegeNow(o);
  c.i32_const(U).i32_ne().br_if(slow, 'unlikely');
  load(o, L.MSTATUS);
  c.local_tee(status).i32_const(B.MPRV).i32_and().br_if(slow, 'unlikely');
  load(o, L.MEDELEG);
  c.i32_const(1 << 8)
    .i32_and()
    .if_();
  enterTrap(o, status, [L.SEPC, L.SCAUSE, L.STVAL, L.STVEC], [B.SIE, B.SPIE, B.SPP]);
  c.i32_const(S).local_set(priv).else_();
  enterTrap(o, status, [L.MEPC, L.MCAUSE, L.MTVAL, L.MTVEC], [B.MIE_BIT, B.MPIE, B.MPP]);
  c.i32_const(M).local_set(priv).end();
  enterMode(o, status, priv);
  c.i32_const(0).i32_const(0).i64_load(L.EXCEPTIONS).i64_const(1).i64_add().i64_store(L.EXCEPTIONS);
  leave();
}

/**
 * Trap CSRs, PC and the status word in the local, for a trap from U (so the previous mode is zero).
 */
function enterTrap(
  o: Ops,
  status: Local<I32>,
  [epc, cause, tval, tvec]: readonly [number, number, number, number],
  [enable, previous, mode]: readonly [number, number, number],
): void {
  const { c } = o;
  c.i32_const(0);
  o.pc();
  c.i64_store(epc);
  c.i32_const(0).i64_const(8).i64_store(cause);
  c.i32_const(0).i64_const(0).i64_store(tval);
  c.i32_const(0).i32_const(0).i64_load(tvec).i64_const(-4).i64_and().i64_store(L.PC);
  c.local_get(status)
    .i32_const(~(enable | previous | mode))
    .i32_and();
  c.local_get(status).i32_const(enable).i32_and().i32_const(4).i32_shl().i32_or().local_set(status);
}

/** Stores the status word, privilege and views (emulator/hart/view.ts; MPRV is clear here). */
function enterMode(o: Ops, status: Local<I32>, priv: Local<I32>): void {
  const { c } = o;
  c.i32_const(0).local_get(status).i32_store(L.MSTATUS);
  c.i32_const(0).local_get(priv).i32_store(L.PRIV);
  c.i32_const(0).local_get(priv).i32_store(L.FETCH_VIEW);
  c.i32_const(0);
  viewIn(o, status, () => void c.local_get(priv));
  c.i32_store(L.DATA_VIEW);
}

/** Pushes the view of loads and stores in a mode, with this status word without MPRV. */
function viewIn({ c }: Ops, status: Local<I32>, mode: () => void): void {
  mode();
  c.local_get(status).i32_const(18).i32_shr_u();
  mode();
  c.i32_const(S).i32_eq().i32_and().i32_add();
}

function load(o: Ops, offset: number): void {
  o.c.i32_const(0).i32_load(offset);
}

const privilegeNow = (o: Ops): void => load(o, L.PRIV);

/** i32: interrupts that are pending and enabled in mie, regardless of mstatus and delegation. */
function pending(o: Ops): void {
  load(o, L.MIP);
  load(o, L.MIP + 4);
  o.c.i32_or();
  load(o, L.MIE);
  o.c.i32_and();
}
