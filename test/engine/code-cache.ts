// A guest that keeps writing code: each round copies a small function to another place, calls it,
// and goes on. For tests of invalidation, eviction and memory.

import { Machine, MIB } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import type { EngineTuning } from '../../emulator/machine/options.ts';

const BASE = 0x8000_0000;
/** Where functions are written, and the distance between them. */
const CODE = 0x8001_0000;
const STRIDE = 256;

const [RA, S0, S1, T0, T1, A0, A1, A2, A3, S2, S3] = [1, 8, 9, 5, 6, 10, 11, 12, 13, 18, 19];

export interface WriterOptions {
  /** Places where functions are written in turn: a power of two. */
  readonly places: number;
  /** Iterations of a function each time. */
  readonly iterations: number;
  /**
   * True if the function of this place is copied each round. Else its code is stored once and only
   * called.
   */
  readonly rewrites: boolean;
  readonly tuning: EngineTuning;
}

/** Four instructions an iteration. */
const FUNCTION = [
  e('addi', { rd: A0, rs1: A0, imm: -1 }),
  e('add', { rd: A1, rs1: A1, rs2: A0 }),
  e('xor', { rd: A2, rs1: A2, rs2: A1 }),
  e('bne', { rs1: A0, rs2: 0, imm: -12 }),
  e('jalr', { rd: 0, rs1: RA, imm: 0 }),
];

const low = (value: number): number => (value << 20) >> 20;
const li = (rd: number, value: number): number[] => [
  e('lui', { rd, imm: (value - low(value)) | 0 }),
  e('addiw', { rd, rs1: rd, imm: low(value) }),
];

/** The machine, which never ends. */
export function codeWriter({ places, iterations, rewrites, tuning }: WriterOptions): Machine {
  const code: number[] = [];
  // S0: running number; S1: iterations; S2: mask of places; S3: first of them.
  code.push(...li(S1, iterations), ...li(S2, places - 1), ...li(S3, CODE >>> 8));
  code.push(e('slli', { rd: S3, rs1: S3, imm: 8 }));
  const table = code.length;
  code.push(0, 0); // auipc A3, addi A3: the function's template
  const loop = code.length;
  code.push(e('and', { rd: T0, rs1: S0, rs2: S2 }), e('slli', { rd: T0, rs1: T0, imm: 8 }));
  code.push(e('add', { rd: T0, rs1: T0, rs2: S3 }));
  // Without rewriting: only the first time round.
  if (!rewrites) {
    code.push(e('bltu', { rs1: S2, rs2: S0, imm: 4 * (2 * FUNCTION.length + 1) }));
  }
  for (const [i] of FUNCTION.entries()) {
    code.push(e('lw', { rd: T1, rs1: A3, imm: 4 * i }), e('sw', { rs1: T0, rs2: T1, imm: 4 * i }));
  }
  code.push(e('addi', { rd: A0, rs1: S1, imm: 0 }), e('jalr', { rd: RA, rs1: T0, imm: 0 }));
  code.push(e('addi', { rd: S0, rs1: S0, imm: 1 }));
  code.push(e('jal', { rd: 0, imm: 4 * (loop - code.length) }));
  const template = code.length;
  code.push(...FUNCTION);
  code[table] = e('auipc', { rd: A3, imm: 0 });
  code[table + 1] = e('addi', { rd: A3, rs1: A3, imm: 4 * (template - table) });
  const bytes = new Uint8Array(Uint32Array.from(code).buffer);
  if (CODE + places * STRIDE > BASE + 15 * MIB) throw new Error('too many places');
  return Machine.create({
    kernel: { name: 'writer.bin', bytes },
    bios: 'none',
    kcov: 'off',
    ramBytes: 16 * MIB,
    tuning,
  });
}

/** Counts the WebAssembly instances that the garbage collector has not freed, from now on. */
export function watchInstances(): { live(): number; stop(): void } {
  const { Instance } = WebAssembly;
  let live = 0;
  const registry = new FinalizationRegistry(() => live--);
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args: ConstructorParameters<typeof Instance>) {
      const instance = new target(...args);
      live++;
      registry.register(instance, undefined);
      return instance;
    },
  });
  return { live: () => live, stop: () => void (WebAssembly.Instance = Instance) };
}
