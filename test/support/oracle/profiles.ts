// The mixtures of instructions that are compared, and with which oracle.

import { ROWS } from '../../../emulator/isa/table.ts';
import type { Profile } from './generate.ts';

const PLAIN_WEIGHTS = { compute: 55, float: 0, memory: 30, flow: 15 };

/** Unicorn compares 64 bits of the operand where 32 are meant (fixed in later QEMU). */
const UNICORN_ATOMICS = ['amomin.w', 'amomax.w', 'amominu.w', 'amomaxu.w'] as const;
/** Unicorn follows the older rule that a signalling NaN makes the result of min and max a NaN. */
const UNICORN_MINIMUM = ['fmin.d', 'fmax.d'] as const;
/** Unicorn's singles are not boxed: nothing that makes or reads one. */
const UNICORN_SINGLES = ['fcvt.s.d', 'fcvt.d.s'] as const;

/** QEMU before 8.0 counts the trailing zeros of all 64 bits. */
const QEMU_BITS = ['ctzw'] as const;

export const INTEGER: Profile = {
  name: 'I M A C',
  extensions: ['i', 'm', 'a'],
  without: UNICORN_ATOMICS,
  pieces: 250,
  rounds: 4,
  weights: PLAIN_WEIGHTS,
};

export const INTEGER_DOUBLE: Profile = {
  name: 'I M A C D',
  extensions: ['i', 'm', 'a', 'd'],
  without: [...UNICORN_ATOMICS, ...UNICORN_MINIMUM, ...UNICORN_SINGLES],
  pieces: 250,
  rounds: 4,
  weights: { compute: 30, float: 35, memory: 25, flow: 10 },
};

export const BITS: Profile = {
  name: 'I M A C Zba Zbb Zbs',
  extensions: ['i', 'm', 'a', 'zba', 'zbb', 'zbs'],
  without: QEMU_BITS,
  pieces: 250,
  rounds: 4,
  weights: PLAIN_WEIGHTS,
};

export const FLOATS: Profile = {
  name: 'F D corner values',
  extensions: ['i', 'f', 'd'],
  pieces: 250,
  rounds: 2,
  weights: { compute: 15, float: 55, memory: 25, flow: 5 },
};

/**
 * Registers whose every bit both machines store alike; the others have a test of their own
 * (csr.oracle.test.ts).
 */
export const STATE_CSRS = ['fflags', 'frm', 'fcsr', 'sscratch', 'scause', 'stval', 'stvec'] as const;

export const EVERYTHING: Profile = {
  name: 'everything with csrs and traps',
  extensions: ['i', 'm', 'a', 'f', 'd', 'zba', 'zbb', 'zbs'],
  without: QEMU_BITS,
  csrs: STATE_CSRS,
  trapOneIn: 60,
  pieces: 250,
  rounds: 2,
  weights: { compute: 40, float: 25, memory: 25, flow: 10 },
};

/** For an oracle that knows every extension of the table and gets none wrong. */
export const NEWEST: Profile = {
  ...EVERYTHING,
  name: 'every extension',
  withoutEbreak: true,
  extensions: [...new Set(ROWS.map(row => row.ext)), 'zcb'],
  without: [],
};

/**
 * The same programs, run so often that an engine which compiles hot code has compiled all of it.
 */
export const hot = (profile: Profile): Profile => ({
  ...profile,
  name: `${profile.name}, hot`,
  pieces: 120,
  rounds: 300,
});

/** The instructions that each oracle can run. */
export const UNICORN_PROFILES: readonly Profile[] = [INTEGER, INTEGER_DOUBLE];
export const QEMU_PROFILES: readonly Profile[] = [INTEGER, BITS, INTEGER_DOUBLE, FLOATS, EVERYTHING];
