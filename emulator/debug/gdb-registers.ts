// The registers that GDB sees: x0..x31, pc, f0..f31 with their control, the CSRs of the table, and
// the privilege mode. Numbers are those of GDB's RISC-V target: 0..32 integer and pc, 33..64
// floating point, 65 + n CSR n, 4161 priv.

import { type Hart, layout as L } from '../hart/index.ts';
import { CSRS, F_NAMES, X_NAMES } from '../isa/index.ts';

const PC = 32;
const F0 = 33;
const CSR0 = 65;
const PRIV = 4161;
const FFLAGS = 1;
const FCSR = 3;
/** GDB's name of s0 is fp. */
const ABI = X_NAMES.map(name => (name === 's0' ? 'fp' : name));

/** Value of a register, undefined = no register has this number. */
export function readRegister(hart: Hart, n: number): bigint | undefined {
  if (n < 0) return undefined;
  if (n < PC) return hart.state.getX(n);
  if (n === PC) return hart.state.pc;
  if (n < CSR0) return hart.state.getF(n - F0);
  if (n === PRIV) return BigInt(hart.state.get(L.PRIV));
  return n < PRIV ? hart.csr.peek(n - CSR0) : undefined;
}

export function writeRegister(hart: Hart, n: number, value: bigint): boolean {
  const s = hart.state;
  const bits = BigInt.asUintN(64, value);
  if (n < 0) return false;
  if (n === 0) return true;
  if (n < PC) s.set64(L.X + 8 * n, bits);
  else if (n === PC) s.set64(L.PC, bits & ~1n);
  else if (n < CSR0) s.set64(L.F + 8 * (n - F0), bits);
  else if (n < PRIV && hart.csr.peek(n - CSR0) !== undefined) {
    hart.csr.write(n - CSR0, Number(bits & 0xffff_ffffn) | 0, Number(bits >> 32n) | 0);
  } else return false;
  return true;
}

const NUMBERS = new Map<string, number>([
  ...ABI.map((name, i) => [name, i] as const),
  ...F_NAMES.map((name, i) => [name, F0 + i] as const),
  ...ABI.map((_, i) => [`x${i}`, i] as const),
  ...ABI.map((_, i) => [`f${i}`, F0 + i] as const),
  ...CSRS.map(({ name, number }) => [name, CSR0 + number] as const),
  ['s0', ABI.indexOf('fp')],
  ['pc', PC],
  ['priv', PRIV],
]);

/** Number of a register: ABI name, `x` or `f` with a number, `pc`, `priv`, or name of a CSR. */
export const registerNumber = (name: string): number | undefined => NUMBERS.get(name);

/** Number of registers in the answer to `g`. */
export const G_COUNT = PC + 1;

/** target.xml, which describes these registers to GDB. */
export function targetDescription(): string {
  const reg = (name: string, n: number, more: string): string =>
    `<reg name="${name}" bitsize="64" regnum="${n}" ${more}/>`;
  const cpu = [
    ...ABI.map((name, i) =>
      reg(
        name,
        i,
        name === 'ra' ? 'type="code_ptr"' : /^[sgtf]p$/.test(name) ? 'type="data_ptr"' : 'type="int"',
      ),
    ),
    reg('pc', PC, 'type="code_ptr"'),
  ];
  const fpu = [
    ...F_NAMES.map((name, i) => reg(name, F0 + i, 'type="ieee_double"')),
    ...['fflags', 'frm', 'fcsr'].map(
      (name, i) => `<reg name="${name}" bitsize="32" regnum="${CSR0 + FFLAGS + i}" type="int"/>`,
    ),
  ];
  const csrs = CSRS.filter(({ number }) => number < FFLAGS || number > FCSR).map(({ name, number }) =>
    reg(name, CSR0 + number, 'type="int" group="csr"'),
  );
  const feature = (name: string, regs: readonly string[]): string =>
    `<feature name="org.gnu.gdb.riscv.${name}">${regs.join('')}</feature>`;
  return (
    '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0"><architecture>riscv:rv64</architecture>' +
    feature('cpu', cpu) +
    feature('fpu', fpu) +
    feature('csr', csrs) +
    feature('virtual', [reg('priv', PRIV, 'type="int" group="general"')]) +
    '</target>'
  );
}
