// The interpreter on raw code in flat memory: counting, pages, self-modifying code, slow memory
// accesses, exits.

import { describe, expect, test } from 'vitest';
import { EXIT, InterpEngine } from '../../emulator/engine/engine.ts';
import { ENTRY_COLD, ENTRY_COMPILED } from '../../emulator/engine/interp/records.ts';
import { REGION_PARAMS, REGION_RESULTS } from '../../emulator/engine/jit/emit/entry.ts';
import { cause } from '../../emulator/hart/index.ts';
import {
  EXCEPTIONS,
  IC,
  MCAUSE,
  MEPC,
  MIE,
  MIP,
  MTVAL,
  MTVEC,
  PC,
  QUANTUM,
  RECHECK,
  X,
} from '../../emulator/hart/layout.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { ModuleBuilder } from '../../emulator/wasm/module.ts';
import { type EngineFactory, Flat, RAM_BASE } from '../support/flat.ts';

const BASE = BigInt(RAM_BASE);
const LOOP_HERE = e('jal', { rd: 0, imm: 0 });

/** A machine with a trap vector that spins, and the code at the start of RAM. */
function started(code: readonly number[], at = RAM_BASE): Flat {
  const flat = new Flat();
  flat.load([LOOP_HERE], RAM_BASE + 0x8000);
  flat.hart.state.set64(MTVEC, BASE + 0x8000n);
  flat.load(code, at);
  flat.pc = BigInt(at);
  return flat;
}

const trapOf = (flat: Flat) => ({
  cause: flat.hart.state.get(MCAUSE),
  tval: flat.hart.state.get64(MTVAL),
  epc: flat.hart.state.get64(MEPC),
});

describe('counting', () => {
  test('a loop runs exactly the instructions of the quantum', () => {
    const flat = new Flat();
    flat.load([
      e('addi', { rd: 1, rs1: 1, imm: 1 }),
      e('add', { rd: 2, rs1: 2, rs2: 1 }),
      e('jal', { rd: 0, imm: -8 }),
    ]);
    expect(flat.run(3000)).toBe(EXIT.spent);
    expect([flat.x(1), flat.x(2), flat.pc]).toEqual([1000n, 500500n, BASE]);
    flat.run(1);
    expect(flat.pc).toBe(BASE + 4n);
    flat.run(1);
    expect([flat.x(1), flat.x(2), flat.pc]).toEqual([1001n, 501501n, BASE + 8n]);
  });

  test('an instruction that traps spends one of the quantum, and so does each of a trap loop', () => {
    const flat = started([0]);
    flat.hart.state.set64(MTVEC, BASE);
    flat.run(10);
    expect(flat.hart.state.get64(EXCEPTIONS)).toBe(10n);
    expect(trapOf(flat)).toEqual({ cause: cause.ILLEGAL, tval: 0n, epc: BASE });
  });

  test('the end of a quantum comes before a fetch fault', () => {
    const flat = started([e('jalr', { rd: 0, rs1: 0, imm: 0x100 })]);
    flat.run(1);
    expect([flat.pc, flat.hart.state.get64(EXCEPTIONS)]).toEqual([0x100n, 0n]);
    flat.run(1);
    expect(trapOf(flat)).toEqual({ cause: cause.INSN_ACCESS, tval: 0x100n, epc: 0x100n });
    expect(flat.pc).toBe(BASE + 0x8000n);
  });
});

describe('pages', () => {
  test('execution runs on from one page to the next and jumps between pages', () => {
    const flat = started([e('addi', { rd: 1, rs1: 1, imm: 1 })], RAM_BASE + 0xffc);
    flat.load([e('addi', { rd: 1, rs1: 1, imm: 2 }), e('jal', { rd: 5, imm: 0x3000 })], RAM_BASE + 0x1000);
    flat.load([e('jalr', { rd: 0, rs1: 5, imm: -8 })], RAM_BASE + 0x4004);
    flat.run(5);
    expect([flat.x(1), flat.x(5), flat.pc]).toEqual([5n, BASE + 0x1008n, BASE + 0x1004n]);
  });

  test('an instruction across a page border executes, and follows changes of its second half', () => {
    const at = RAM_BASE + 0xffe;
    const flat = started([], at);
    const put = (word: number) => {
      flat.ram.write16(at, word & 0xffff);
      flat.ram.write16(at + 2, word >>> 16);
    };
    put(e('addi', { rd: 1, rs1: 1, imm: 1 }));
    flat.ram.write32(at + 4, e('jal', { rd: 0, imm: -4 }));
    flat.run(6);
    expect([flat.x(1), flat.pc]).toEqual([3n, BigInt(at)]);
    put(e('addi', { rd: 1, rs1: 1, imm: 100 }));
    flat.run(2);
    expect(flat.x(1)).toBe(103n);
    put(e('jal', { rd: 3, imm: 0x1000 }));
    flat.run(1);
    expect([flat.x(3), flat.pc]).toEqual([BigInt(at) + 4n, BigInt(at) + 0x1000n]);
  });

  test('a fault of the second half names the second page, with epc at the first half', () => {
    const end = RAM_BASE + 0x10_0000;
    const flat = started([], end - 2);
    flat.ram.write16(end - 2, 0x0093);
    flat.run(1);
    expect(trapOf(flat)).toEqual({ cause: cause.INSN_ACCESS, tval: BigInt(end), epc: BigInt(end - 2) });
  });

  test('more code pages than the pool holds still run', () => {
    const flat = new Flat({ pages: 3 });
    for (let page = 0; page < 8; page++) {
      const imm = page === 7 ? -7 * 4096 - 4 : 4096 - 4;
      flat.load([e('addi', { rd: 1, rs1: 1, imm: 1 }), e('jal', { rd: 0, imm })], RAM_BASE + page * 4096);
    }
    flat.run(16 * 100);
    expect([flat.x(1), flat.pc]).toEqual([800n, BASE]);
  });
});

describe('self-modifying code', () => {
  test('a store to the next instruction takes effect at once', () => {
    const flat = started([
      e('sw', { rs1: 1, rs2: 2, imm: 4 }),
      e('addi', { rd: 3, rs1: 0, imm: 1 }),
      e('addi', { rd: 4, rs1: 4, imm: 1 }),
      e('jal', { rd: 0, imm: -12 }),
    ]);
    flat.setX(1, BASE);
    flat.setX(2, BigInt(e('addi', { rd: 3, rs1: 0, imm: 2 })));
    flat.run(4);
    expect(flat.x(3)).toBe(2n);
    flat.setX(2, BigInt(e('addi', { rd: 3, rs1: 0, imm: 3 })));
    flat.run(4 * 200);
    expect([flat.x(3), flat.x(4)]).toEqual([3n, 201n]);
    flat.setX(2, BigInt(e('addi', { rd: 3, rs1: 0, imm: 4 })));
    flat.run(2);
    expect(flat.x(3)).toBe(4n);
  });

  test('code written by host or device is noticed', () => {
    const flat = started([e('addi', { rd: 1, rs1: 1, imm: 1 }), e('jal', { rd: 0, imm: -4 })]);
    flat.run(10);
    flat.load([e('addi', { rd: 1, rs1: 1, imm: 10 })]);
    flat.run(10);
    expect(flat.x(1)).toBe(55n);
  });
});

describe('memory', () => {
  test('misaligned and page-crossing accesses work', () => {
    const flat = started([
      e('sd', { rs1: 1, rs2: 2, imm: -3 }),
      e('ld', { rd: 3, rs1: 1, imm: -3 }),
      e('lw', { rd: 4, rs1: 1, imm: -1 }),
      e('lhu', { rd: 5, rs1: 1, imm: 1 }),
      e('lb', { rd: 6, rs1: 1, imm: 4 }),
    ]);
    flat.setX(1, BASE + 0x4000n);
    flat.setX(2, 0x8877_6655_4433_2211n);
    flat.run(5);
    expect([3, 4, 5, 6].map(r => flat.x(r))).toEqual([
      0x8877_6655_4433_2211n,
      0x6655_4433n,
      0x6655n,
      0xffff_ffff_ffff_ff88n,
    ]);
  });

  test('a load fault leaves rd alone even when rd is the base', () => {
    const flat = started([e('ld', { rd: 1, rs1: 1, imm: 8 })]);
    flat.setX(1, 0x40n);
    flat.run(1);
    expect([flat.x(1), trapOf(flat)]).toEqual([0x40n, { cause: cause.LOAD_ACCESS, tval: 0x48n, epc: BASE }]);
  });

  test('sc succeeds once after lr, atomics return the old value, misaligned ones trap', () => {
    const flat = started([
      e('lr.w', { rd: 3, rs1: 1 }),
      e('sc.w', { rd: 4, rs1: 1, rs2: 2 }),
      e('sc.w', { rd: 5, rs1: 1, rs2: 2 }),
      e('amoadd.w', { rd: 6, rs1: 1, rs2: 2 }),
      e('amomaxu.d', { rd: 7, rs1: 1, rs2: 8 }),
      e('amoswap.w', { rd: 9, rs1: 8, rs2: 8 }),
    ]);
    flat.ram.write64(RAM_BASE + 0x4000, 0x0000_0001_8000_0000n);
    flat.setX(1, BASE + 0x4000n);
    flat.setX(2, 0x7fff_ffffn);
    flat.setX(8, BASE + 0x4001n);
    flat.run(6);
    expect([3, 4, 5, 6, 7].map(r => flat.x(r))).toEqual([
      0xffff_ffff_8000_0000n,
      0n,
      1n,
      0x7fff_ffffn,
      0x0000_0001_ffff_fffen,
    ]);
    expect(flat.ram.read64(RAM_BASE + 0x4000)).toBe(0x0000_0001_ffff_fffen);
    expect(trapOf(flat)).toMatchObject({ cause: cause.STORE_MISALIGNED, tval: BASE + 0x4001n });
  });
});

describe('leaving', () => {
  test('wfi stops the run; a pending interrupt is taken before the next instruction', () => {
    const flat = started([e('wfi'), e('addi', { rd: 1, rs1: 0, imm: 1 })]);
    flat.hart.state.set64(MIE, BigInt(cause.MTIP));
    expect(flat.run(100)).toBe(EXIT.waiting);
    expect(flat.pc).toBe(BASE + 4n);
    flat.hart.setLine(cause.MTIP, true);
    flat.run(1);
    // mstatus.MIE is clear: wfi falls through without a trap.
    expect(flat.x(1)).toBe(1n);
    flat.hart.state.set(0x300, 8);
    flat.hart.state.set(RECHECK, 1);
    flat.run(1);
    expect([flat.hart.state.get64(MEPC), flat.pc]).toEqual([BASE + 8n, BASE + 0x8000n]);
    expect(flat.hart.state.get64(MIP)).toBe(BigInt(cause.MTIP) << 32n);
  });

  test('a device that asks to stop is obeyed after its instruction, with the exact count', () => {
    const flat = started([e('sw', { rs1: 1, rs2: 0, imm: 0 }), e('addi', { rd: 2, rs1: 0, imm: 1 })]);
    flat.bus.add(
      {
        name: 'stop',
        read: () => 0,
        write: () => flat.engine.requestExit(),
        reset() {},
        save: () => 0,
        load() {},
      },
      0x10_0000,
      0x1000,
    );
    flat.setX(1, 0x10_0000n);
    flat.hart.state.set(QUANTUM, 50);
    flat.hart.state.set(IC, 50);
    expect(flat.engine.run(flat.hart)).toBe(EXIT.stopped);
    expect([flat.hart.state.get(IC), flat.pc, flat.x(2)]).toEqual([49, BASE + 4n, 0n]);
  });
});

describe('compiled regions', () => {
  /**
   * A region that adds 100 to x1, counts one instruction and goes on at its own pc + 4, odd or
   * even.
   */
  function region(memory: WebAssembly.Memory, odd: number) {
    const m = new ModuleBuilder();
    m.importMemory('env', 'memory', { min: 1 });
    const f = m.func(REGION_PARAMS, REGION_RESULTS);
    const { code: c } = f;
    c.i32_const(0)
      .i32_const(0)
      .i64_load(X + 8)
      .i64_const(100)
      .i64_add()
      .i64_store(X + 8);
    c.i32_const(0)
      .i64_load(PC)
      .i64_const(4 | odd)
      .i64_add();
    c.local_get(f.params[1]).i32_const(1).i32_sub();
    m.export('f', 'func', f.index);
    return new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } }).exports['f'];
  }

  test.each([0, 1])('take over where they are hot and are counted (odd pc: %i)', odd => {
    const table = new WebAssembly.Table({ element: 'anyfunc', initial: 1 });
    const calls: number[] = [];
    const engine: EngineFactory = (ram, harts, area) => {
      const interp: InterpEngine = new InterpEngine(ram, harts, area, {
        jit: {
          table,
          jumpCache: area.base + InterpEngine.areaBytes(area.pages) - 64,
          jumpCacheMask: 0,
          arrivals: 3,
          hot: rec => {
            const { offset } = interp.pages.placeOf(rec);
            calls.push(offset);
            return offset === 0 ? ENTRY_COMPILED : ENTRY_COLD;
          },
          enter: () => 0,
          untilSample: undefined,
          ran: () => {},
          useSlow: () => {},
        },
      });
      return interp;
    };
    const flat = new Flat({ engine, pages: 15 });
    table.set(0, region(flat.ram.memory, odd));
    flat.load([
      e('addi', { rd: 1, rs1: 1, imm: 1 }),
      e('addi', { rd: 2, rs1: 2, imm: 1 }),
      e('jal', { rd: 0, imm: -8 }),
    ]);
    flat.run(3 * 10);
    // Arrivals 1 and 2 are interpreted; the first pass is no arrival, because nothing was decoded
    // yet.
    expect([flat.x(1), flat.x(2), calls[0]]).toEqual([3n + 700n, 10n, 0]);
  });
});
