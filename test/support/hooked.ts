// A program of coverage hooks on bare memory, compiled or interpreted, with what it left behind.

import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { kcovInlineCalls } from '../../emulator/machine/kcov-inline/index.ts';
import { type EngineFactory, Flat, interpreter, RAM_BASE } from './flat.ts';
import { addKcov, type Tracing, writeHookData } from './shapes/hooks.ts';

export interface Hooked {
  readonly bytes: Uint8Array;
  /** Addresses of the hooks, by kind. */
  readonly hooks: readonly number[];
  readonly tracing: Tracing;
  /** First values of registers. */
  readonly x: Readonly<Record<number, number>>;
  /** Instructions to run. */
  readonly insns: number;
}

/** `count`: records, of which `compiled` are those of compiled code; `heard`: by a listener. */
export function runHooked({ bytes, hooks, tracing, x, insns }: Hooked, isCompiled: boolean) {
  let jit: Jit | undefined;
  const compiling: EngineFactory = (ram, harts, area) => {
    jit = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat: HEAT_EAGER });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    return engine;
  };
  const flat = new Flat({ engine: isCompiled ? compiling : interpreter });
  flat.load(bytes);
  const free = { codeEnd: RAM_BASE + 0x8000, tableEnd: RAM_BASE + 0x9000 };
  writeHookData((pa, value) => flat.ram.write64(pa, value), hooks, tracing, free);
  const inline = (table: Parameters<typeof kcovInlineCalls>[0]) =>
    jit?.setInlineCalls('kcov', kcovInlineCalls(table));
  const made = addKcov(flat, inline, tracing.heard);
  flat.hart.mmu.pmp.open();
  for (const [register, value] of Object.entries(x)) flat.setX(Number(register), BigInt(value));
  flat.run(insns);
  const { device, compiled, heard } = made();
  return { count: device + compiled, compiled, heard, x: Array.from({ length: 32 }, (_, i) => flat.x(i)) };
}
