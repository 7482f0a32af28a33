// Guests made of noise: random instructions, CSRs, page tables, trap vectors and privilege.
// Whatever they do, the host must neither throw nor hang, and both engines must do the same.
// KCOVBOX_HOSTILE sets the number of guests.

import { expect, test } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
import { type EngineKind, Machine, RAM_BASE, ROWS, stateHash } from '../../emulator/index.ts';
import { CSRS } from '../../emulator/isa/csr.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const GUESTS = Number(process.env['KCOVBOX_HOSTILE'] ?? 6);
const UNITS = 60_000;
const CODE_BYTES = 0x4_0000;
const TABLES = RAM_BASE + 0x10_0000;
const TABLE_PAGES = 64;

/** ecall, mret, sret, sfence.vma, fence.i, ebreak, wfi. */
const SYSTEM = [0x73, 0x3020_0073, 0x1020_0073, 0x1200_0073, 0x100f, 0x10_0073, 0x1050_0073];
const DEVICES = [0x1000_0000, 0x200_0000, 0xc00_0000, 0x10_1000, 0x400_0000, 0x1000_1000];

function word(r: Random): number {
  const kind = r.below(10);
  if (kind < 5) {
    const row = r.pick(ROWS);
    return ((r.u32() & ~row.mask) | row.match) >>> 0;
  }
  if (kind < 7) {
    const operands = (r.below(32) << 15) | (r.pick([1, 2, 3, 5, 6, 7]) << 12) | (r.below(32) << 7);
    return ((r.pick(CSRS).number << 20) | operands | 0x73) >>> 0;
  }
  if (kind === 7) return r.pick(SYSTEM);
  // A short jump forward, so that not everything ends in the first loop.
  return kind === 8 ? (0x6f | (r.below(64) << 22) | (r.below(32) << 7)) >>> 0 : r.u32();
}

function code(r: Random): Uint8Array {
  const bytes = new Uint8Array(CODE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < CODE_BYTES; at += 4) view.setUint32(at, word(r), true);
  return bytes;
}

function value(r: Random): bigint {
  switch (r.below(4)) {
    case 0:
      return BigInt(r.pick(DEVICES)) + BigInt(r.below(4096));
    case 1:
      return r.u64();
    default:
      return BigInt(RAM_BASE + r.below(0x40_0000));
  }
}

function tables(r: Random, machine: Machine): void {
  const bits = [1, 0xcf, 0xdf, 0xc7, 0x0f];
  for (let at = 0; at < TABLE_PAGES * 4096; at += 8) {
    if (r.oneIn(2)) continue;
    const flags = r.oneIn(6) ? r.below(1024) : r.pick(bits);
    machine.ram.write64(TABLES + at, (BigInt(0x8_0000 + r.below(0x400)) << 10n) | BigInt(flags));
  }
}

function guest(seed: number, engine: EngineKind): Machine {
  const r = new Random(seed);
  const machine = Machine.create({
    kernel: { name: 'noise.bin', bytes: code(r) },
    bios: 'none',
    engine,
    eager: true,
    harts: 1 + (seed % 2),
    ramBytes: 4 << 20,
  });
  tables(r, machine);
  const hart = machine.harts[0]!;
  const s = hart.state;
  for (let i = 1; i < 32; i++) s.set64(L.X + 8 * i, value(r));
  const target = (): bigint => BigInt(RAM_BASE + 4 * r.below(CODE_BYTES / 4));
  for (const slot of [L.MTVEC, L.STVEC, L.MEPC, L.SEPC]) s.set64(slot, target());
  s.set64(L.MEDELEG, BigInt(r.u32() & 0xb3ff));
  s.set64(L.MIDELEG, BigInt(r.u32() & 0x222));
  s.set(L.MSTATUS, 0x6000 | (r.u32() & 0x7e_00aa) | r.pick([0, 0x800, 0x1800]));
  if (r.oneIn(2))
    s.set64(L.SATP, (BigInt(r.pick([8, 9])) << 60n) | BigInt((TABLES >>> 12) + r.below(TABLE_PAGES)));
  if (!r.oneIn(3)) hart.mmu.pmp.open();
  hart.restored();
  return machine;
}

test('guests made of noise neither break the host nor divide the engines', () => {
  const first = seedFromEnvironment(0x2a);
  let retired = 0;
  for (let seed = first; seed < first + GUESTS; seed++) {
    const [jit, interp] = (['jit', 'interp'] as const).map(engine => {
      const machine = guest(seed, engine);
      machine.run(UNITS);
      retired += machine.instret;
      return stateHash(machine);
    });
    expect(jit, `seed ${seedText(seed)}`).toEqual(interp);
  }
  console.log(`hostile guests: ${GUESTS} from seed ${seedText(first)}, ${retired} instructions retired`);
});
