// Raw RV64 code on one hart with nothing but RAM: no devices, no firmware. For tests of engines and
// oracles. Runs with any engine; state is read and written through the hart's window.

import { Bus } from '../../emulator/bus/bus.ts';
import { Ram } from '../../emulator/bus/ram.ts';
import { type Engine, type ExitReason, InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit, type JitTuning } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { Hart, homeOf, NO_CODE } from '../../emulator/hart/index.ts';
import { F, IC, INSTRET, PC, QUANTUM, X } from '../../emulator/hart/layout.ts';
import { ALL_EXTENSIONS } from '../../emulator/isa/index.ts';
import { RING_BYTES } from '../../emulator/machine/kcov-inline/ring.ts';
import { TALLY_BYTES } from '../../emulator/machine/kcov-inline/tally.ts';

export const RAM_BASE = 0x8000_0000;

export type EngineFactory = (ram: Ram, harts: Hart[], area: { base: number; pages: number }) => Engine;

export const interpreter: EngineFactory = (ram, harts, area) => new InterpEngine(ram, harts, area);

/**
 * The interpreter with the region JIT behind it, compiling at the first sign of heat unless tuned
 * otherwise.
 */
export const jitWith =
  (tuning: JitTuning): EngineFactory =>
  (ram, harts, area) => {
    const regions = new Jit(ram, { ...tuning, base: area.base + InterpEngine.areaBytes(area.pages) });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    return engine;
  };
export const jit: EngineFactory = jitWith({ heat: HEAT_EAGER });

/** A machine with the region JIT, and the JIT, which tells how long its regions ran. */
export function flatWithJit(tuning: JitTuning, options: FlatOptions = {}): { flat: Flat; jit: Jit } {
  let jit: Jit | undefined;
  const engine: EngineFactory = (ram, harts, area) => {
    const base = area.base + InterpEngine.areaBytes(area.pages);
    jit = new Jit(ram, { countUnits: true, ...tuning, base });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    return engine;
  };
  const flat = new Flat({ ...options, engine });
  return { flat, jit: jit! };
}

export interface FlatOptions {
  ramBytes?: number;
  engine?: EngineFactory;
  /** Decoded pages of the engine. */
  pages?: number;
}

export class Flat {
  readonly ram: Ram;
  readonly bus = new Bus();
  readonly hart: Hart;
  readonly engine: Engine;
  /** Host addresses of memory for a ring of records, and for numbers of them. */
  readonly ringBase: number;
  readonly tallyBase: number;

  constructor({ ramBytes = 0x10_0000, engine = interpreter, pages = 16 }: FlatOptions = {}) {
    const area = { base: homeOf(1), pages };
    const ramHost = area.base + InterpEngine.areaBytes(pages) + Jit.areaBytes;
    this.ringBase = ramHost + ramBytes;
    this.tallyBase = this.ringBase + RING_BYTES;
    const memory = new WebAssembly.Memory({ initial: (this.tallyBase + TALLY_BYTES) / 0x1_0000 });
    this.ram = new Ram(memory, ramHost, RAM_BASE, ramBytes);
    const ports = {
      memory,
      ram: this.ram,
      bus: this.bus,
      extensions: ALL_EXTENSIONS,
      time: () => 0,
      code: NO_CODE,
    };
    this.hart = new Hart(0, ports);
    this.hart.activate();
    this.hart.reset(BigInt(RAM_BASE));
    this.engine = engine(this.ram, [this.hart], area);
  }

  /** Puts 32-bit words, or bytes, at a physical address. */
  load(code: readonly number[] | Uint8Array, at = RAM_BASE): void {
    if (code instanceof Uint8Array) this.ram.write(at, code);
    else for (const [i, word] of code.entries()) this.ram.write32(at + 4 * i, word);
  }

  /** Runs exactly `insns` instructions from where the hart is, unless it waits or stops before. */
  run(insns: number): ExitReason {
    const { state } = this.hart;
    state.set(QUANTUM, insns);
    state.set(IC, insns);
    const reason = this.engine.run(this.hart);
    state.set64(INSTRET, state.get64(INSTRET) + BigInt(state.get(QUANTUM) - state.get(IC)));
    state.set(QUANTUM, 0);
    state.set(IC, 0);
    return reason;
  }

  x(r: number): bigint {
    return this.hart.state.getX(r);
  }

  setX(r: number, value: bigint): void {
    this.hart.state.set64(X + 8 * r, BigInt.asUintN(64, value));
  }

  setF(r: number, bits: bigint): void {
    this.hart.state.set64(F + 8 * r, BigInt.asUintN(64, bits));
  }

  get pc(): bigint {
    return this.hart.state.pc;
  }

  set pc(value: bigint) {
    this.hart.state.set64(PC, value);
  }
}
