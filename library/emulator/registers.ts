// Registers of a hart by name.

import { KcovboxError } from '../../emulator/base/errors.ts';
import { type Hart, readRegister, registerNumber, writeRegister } from '../../emulator/index.ts';

/** The mode in which a hart runs. */
export type Privilege = 'user' | 'supervisor' | 'machine';

/** The registers of a hart, copied. */
export interface Registers {
  readonly pc: bigint;
  /** x0 to x31, unsigned. */
  readonly x: readonly bigint[];
  /** f0 to f31 as bits; a float is NaN-boxed. */
  readonly f: readonly bigint[];
  readonly privilege: Privilege;
}

const COUNT = 32;
const PC = 32;
const F0 = 33;
const PRIV = 4161;
const MODES: readonly (Privilege | undefined)[] = ['user', 'supervisor', undefined, 'machine'];

const range = (first: number): number[] => Array.from({ length: COUNT }, (_, i) => first + i);

/** @internal */
export function registersOf(hart: Hart): Registers {
  const read = (n: number): bigint => readRegister(hart, n)!;
  return {
    pc: read(PC),
    x: range(0).map(read),
    f: range(F0).map(read),
    privilege: MODES[Number(read(PRIV))]!,
  };
}

/** @internal */
export function readNamed(hart: Hart, name: string): bigint {
  const number = registerNumber(name);
  const value = number === undefined ? undefined : readRegister(hart, number);
  if (value === undefined) throw new KcovboxError('machine', `this hart has no register ${name}`);
  return value;
}

/** @internal */
export function writeNamed(hart: Hart, name: string, value: bigint): void {
  const number = registerNumber(name);
  if (number === undefined || !writeRegister(hart, number, value))
    throw new KcovboxError('machine', `this hart has no register ${name} that can be written`);
}
