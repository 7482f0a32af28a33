// The workloads, one row each: source, compilation, repetitions, and the ratio to QEMU that the
// project must (`must`) and wants to (`aim`) reach: times faster than qemu-system-riscv64 TCG
// without -icount, in CPU seconds. Programs on the bare machine are here, systems in
// system/phases.ts.

import { type OwnProgram, type Phase, phaseOf, phases, type SystemWork } from './system/phases.ts';

/** Use of the kernel's coverage hooks; docs/performance.md, "kcov". */
export interface KcovSetting {
  /** Values of `-fsanitize-coverage`; absent = not instrumented. */
  readonly instrument?: string;
  /** Hook calls replaced by nops of the same size: the same code without recording. */
  readonly isElided?: boolean;
  /** Bits of KCOV_CTX_MODE: 0 = nobody traces, 1 = pc, 2 = comparisons. */
  readonly mode: 0 | 1 | 2;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** File of bench/programs; a system has none. */
  readonly file?: string;
  /** A whole system in place of a program on the bare machine. */
  readonly system?: SystemWork;
  readonly defines?: Readonly<Record<string, string | number>>;
  /** S-mode behind 4 KiB pages. */
  readonly sv39?: boolean;
  /** Instruction set of the guest build. */
  readonly march?: string;
  readonly kcov?: KcovSetting;
  /** Its cost on kcovbox jit as a multiple of another workload's; `must` and `aim` of that. */
  readonly cost?: { readonly of: string; readonly must?: number; readonly aim?: number };
  /** Can run natively and as wasm32. */
  readonly portable?: boolean;
  /** Runs before and between the two marks; about a second of QEMU. */
  readonly warmUp: number;
  readonly repeat: number;
  readonly must?: number;
  readonly aim?: number;
}

const KIND = { ecall: 1, csr: 2, mmio: 3, sfence: 4, patch: 5 } as const;

const PC = 'trace-pc';
const CMP = 'trace-pc,trace-cmp';
/**
 * The integer mix in S-mode with the kernel's hooks; an iteration is two rounds, 223,000
 * instructions and 14,209 records.
 */
const traced = { file: 'mix.c', sv39: true, defines: { ROUNDS: 2 }, warmUp: 3000, repeat: 3000 } as const;

/** A chain of pointers: each load needs the address that the load before it returned. */
const chain = { file: 'chase.c', must: 1, aim: 1.4 } as const;
const chainInCache = { ...chain, defines: { BYTES: 1 << 18 }, warmUp: 10, repeat: 80 } as const;
const chainInRam = { ...chain, defines: { BYTES: 1 << 25 }, warmUp: 1, repeat: 4 } as const;

const systemOf = (phase: Phase): Workload => ({ ...phase, warmUp: 0, repeat: 1 });

/** The systems, with so many times the work. */
export const systems = (scale = 1): readonly Workload[] => phases(scale).map(systemOf);

/** A row for a program of the user's. */
export const workloadOf = (program: OwnProgram): Workload => systemOf(phaseOf(program));

// biome-ignore format: a table
export const WORKLOADS: readonly Workload[] = [
  { name: 'mix', title: 'integer mix: lists, matrices, state machine, CRC', file: 'mix.c', portable: true, warmUp: 30, repeat: 120, must: 1.7, aim: 2.2 },
  { name: 'calls', title: 'recursion and 64-bit arithmetic', file: 'calls.c', portable: true, warmUp: 20, repeat: 120, must: 1.7, aim: 2.2 },
  { name: 'sieve', title: 'sieve: bytes and branches', file: 'sieve.c', portable: true, warmUp: 15, repeat: 60, must: 3, aim: 6 },
  { name: 'copy', title: 'copy and fill by words', file: 'copy.c', portable: true, warmUp: 10, repeat: 60, must: 4, aim: 10 },
  { name: 'copy-sv39', title: 'the same behind Sv39', file: 'copy.c', sv39: true, warmUp: 10, repeat: 60, must: 4, aim: 10 },
  { ...chainInCache, name: 'chase-l2', title: 'pointer chase within the cache (256 KiB)', portable: true },
  { ...chainInRam, name: 'chase-ram', title: 'pointer chase beyond the cache (32 MiB)', portable: true },
  { ...chainInCache, name: 'chase-l2-sv39', title: 'pointer chase within the cache behind Sv39', sv39: true },
  { ...chainInRam, name: 'chase-ram-sv39', title: 'pointer chase beyond the cache behind Sv39', sv39: true },
  { name: 'sha256', title: 'SHA-256', file: 'sha256.c', portable: true, warmUp: 50, repeat: 400 },
  { name: 'nbody', title: 'n-body in double precision', file: 'nbody.c', portable: true, warmUp: 60, repeat: 180, must: 4, aim: 10 },
  { name: 'nbody-fma', title: 'n-body with fused multiply-add', file: 'nbody.c', defines: { FMA: 1 }, portable: true, warmUp: 60, repeat: 180, must: 1, aim: 3 },
  { name: 'ecall', title: 'ecall from U to M and back', file: 'system.c', defines: { KIND: KIND.ecall }, warmUp: 2, repeat: 10, must: 2.5, aim: 5 },
  { name: 'csr', title: 'CSR instructions', file: 'system.c', defines: { KIND: KIND.csr }, warmUp: 2, repeat: 24, must: 4, aim: 20 },
  { name: 'mmio', title: 'device register reads', file: 'system.c', defines: { KIND: KIND.mmio }, warmUp: 20, repeat: 60, must: 2, aim: 5 },
  { name: 'sfence', title: 'sfence.vma and 32 page refills', file: 'system.c', defines: { KIND: KIND.sfence }, sv39: true, warmUp: 1, repeat: 12, must: 2, aim: 4 },
  { name: 'patch', title: 'patch, fence.i and call', file: 'system.c', defines: { KIND: KIND.patch }, warmUp: 2, repeat: 16, must: 1, aim: 2 },
  { ...traced, name: 'kcov-none', title: 'the mix, not instrumented', kcov: { mode: 0 } },
  { ...traced, name: 'kcov-elided', title: 'trace-pc, calls elided', kcov: { instrument: PC, isElided: true, mode: 0 } },
  { ...traced, name: 'kcov-off', title: 'trace-pc, disabled', kcov: { instrument: PC, mode: 0 }, cost: { of: 'kcov-elided' } },
  { ...traced, name: 'kcov-pc', title: 'trace-pc, recording', kcov: { instrument: PC, mode: 1 }, cost: { of: 'kcov-elided', must: 1.2, aim: 1.1 }, must: 10 },
  { ...traced, name: 'kcov-cmp-elided', title: 'trace-cmp, calls elided', kcov: { instrument: CMP, isElided: true, mode: 0 } },
  { ...traced, name: 'kcov-cmp', title: 'trace-cmp, recording comparisons', kcov: { instrument: CMP, mode: 2 }, cost: { of: 'kcov-cmp-elided', must: 1.2, aim: 1.1 }, must: 10 },
  ...systems(),
];
