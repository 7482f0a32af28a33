// Shape programs (test/support/shapes/) on a whole machine, hot and compiled, with one interrupt:
// for each unit of a stretch of the run one run in which the interrupt arrives there. It comes from
// a device in the middle of one long quantum, as it would from a timer.

import { cause } from '../../../emulator/hart/index.ts';
import * as L from '../../../emulator/hart/layout.ts';
import { setPriv } from '../../../emulator/hart/view.ts';
import { encode as e, Machine, stateHash } from '../../../emulator/index.ts';
import { MAP } from '../../../emulator/machine/memory-map.ts';
import { RAM_BASE } from '../flat.ts';
import { EAGEREST } from '../privileged/policies.ts';
import { Random } from '../random.ts';
import { announceHooks } from '../shapes/hooks.ts';
import {
  assembleProgram,
  drawProgram,
  initialMemory,
  type Mapping,
  type ShapeProgram,
  shrinkProgram,
  TABLES,
} from '../shapes/program.ts';

const HANDLER = RAM_BASE + 0x7_0000;
const RAM_BYTES = 4 << 20;
const [MSCRATCH, MEPC, MCAUSE] = [0x340, 0x341, 0x342];
const [SCRATCH, HASH] = [2, 17];
/** The source of the PLIC that edu drives, at context 0. */
const PLIC_ENABLE = MAP.plic.base + 0x2000;
const CLAIM = 0x20_0004;
const EDU_RAISE = 0x60;
const EDU_ACKNOWLEDGE = 0x64;
const TIMER = MAP.clint.base + 0x4000;
const MSTATUS_MIE = 8;
/** Units behind the last arrival: the handler, and what follows in compiled code. */
const REST = 80;
/** Most units of a program, and the share of them that passes first. */
const MOST = 3_000_000;
const WARM = 0.8;
const LOOK = 1024;

type Source = 'timer' | 'software' | 'external';
const SOURCES: readonly Source[] = ['timer', 'software', 'external'];
const MAPPINGS: readonly Mapping[] = ['sv39', 'identity', 'bare'];

/** Mixes cause and epc into x17, silences all three sources, and returns. Clobbers x2. */
const HANDLER_CODE: readonly number[] = [
  ...[MEPC, MCAUSE].flatMap(csr => [
    e('slli', { rd: SCRATCH, rs1: HASH, imm: 5 }),
    e('srli', { rd: HASH, rs1: HASH, imm: 59 }),
    e('or', { rd: HASH, rs1: HASH, rs2: SCRATCH }),
    e('csrrs', { rd: SCRATCH, rs1: 0, imm: csr }),
    e('xor', { rd: HASH, rs1: HASH, rs2: SCRATCH }),
  ]),
  e('csrrw', { rd: 0, rs1: HASH, imm: MSCRATCH }),
  e('addi', { rd: HASH, rs1: 0, imm: -1 }),
  e('lui', { rd: SCRATCH, imm: MAP.clint.base }),
  e('sw', { rs1: SCRATCH, rs2: 0, imm: 0 }),
  e('lui', { rd: SCRATCH, imm: TIMER }),
  e('sd', { rs1: SCRATCH, rs2: HASH, imm: 0 }),
  e('lui', { rd: SCRATCH, imm: MAP.edu.base }),
  e('sw', { rs1: SCRATCH, rs2: HASH, imm: EDU_ACKNOWLEDGE }),
  e('lui', { rd: SCRATCH, imm: MAP.plic.base + CLAIM - 4 }),
  e('lw', { rd: HASH, rs1: SCRATCH, imm: 4 }),
  e('sw', { rs1: SCRATCH, rs2: HASH, imm: 4 }),
  e('csrrs', { rd: HASH, rs1: 0, imm: MSCRATCH }),
  e('mret'),
];

interface Side {
  readonly machine: Machine;
  /** Lets an interrupt arrive behind so many further units. */
  arrive(source: Source, units: number): void;
}

function sideOf(program: ShapeProgram, mapping: Mapping, isCompiled: boolean): Side {
  const code = assembleProgram(program);
  const machine = Machine.create({
    kernel: { name: 'shape.bin', bytes: initialMemory(code, program, mapping) },
    ...{ bios: 'none', ramBytes: RAM_BYTES, engine: isCompiled ? 'jit' : 'interp' },
    ...(isCompiled && { tuning: EAGEREST.tuning! }),
  });
  const [hart, { clint, plic, kcov }] = [machine.harts[0]!, machine.board];
  const { state, mmu } = hart;
  for (const [i, word] of HANDLER_CODE.entries()) machine.ram.write32(HANDLER + 4 * i, word);
  mmu.pmp.open();
  if (mapping === 'identity') {
    // A locked NA4 entry at the end of RAM, so that M-mode goes through the TLB.
    state.set64(L.PMPADDR + 8, state.get64(L.PMPADDR));
    state.set64(L.PMPADDR, BigInt(RAM_BASE + RAM_BYTES - 4) >> 2n);
    state.set64(L.PMPCFG, (state.get64(L.PMPCFG) << 8n) | 0x97n);
  }
  state.set64(L.MTVEC, BigInt(HANDLER));
  state.set64(L.MIE, BigInt(cause.MTIP | cause.MSIP | cause.MEIP));
  state.set(L.MSTATUS, state.get(L.MSTATUS) | MSTATUS_MIE);
  hart.restored();
  if (mapping === 'sv39') {
    state.set64(L.SATP, (8n << 60n) | BigInt(TABLES / 4096));
    mmu.tlb.flushAll();
    setPriv(state, 1);
  }
  announceHooks(kcov!);
  plic.write(4 * MAP.edu.irq, 4, 1);
  plic.write(PLIC_ENABLE - MAP.plic.base, 4, 1 << MAP.edu.irq);
  const edu = machine.board.placed.find(({ device }) => device.name === 'edu')!.device;
  let next: Source = 'timer';
  const alarm = machine.clock.alarm('interrupts', () => {
    if (next === 'software') clint.write(0, 4, 1);
    else if (next === 'external') edu.write(EDU_RAISE, 4, 1);
    else for (const half of [0, 4]) clint.write(TIMER - MAP.clint.base + half, 4, 0);
  });
  return {
    machine,
    arrive: (source, units) => {
      next = source;
      alarm.set(machine.time + units);
    },
  };
}

/** Units until the program, interpreted, has come to its end. */
function lengthOf(program: ShapeProgram, mapping: Mapping): number {
  const { machine } = sideOf(program, mapping, false);
  const end = BigInt(assembleProgram(program).end);
  while (machine.harts[0]!.state.pc !== end) {
    machine.run(LOOK);
    if (machine.spent > MOST) throw new Error(`no end after ${MOST} units`);
  }
  return machine.spent;
}

export interface Case {
  readonly program: ShapeProgram;
  readonly mapping: Mapping;
  readonly source: Source;
  /** Where in its round the program is when the stretch begins, and the length of the stretch. */
  readonly phase: number;
  readonly arrivals: number;
}

export interface Comparison {
  /** The first difference. */
  readonly how: string | undefined;
  /** Instructions whose effect was compared, in all runs. */
  readonly instructions: number;
  /** Compiled regions. */
  readonly regions: number;
  /** Of the compiled run, behind each arrival. */
  readonly hashes: readonly string[];
}

/** Compiled code in one quantum against the interpreter in single steps; for each unit one run. */
export function compareInterrupts({ program, mapping, source, phase, arrivals }: Case): Comparison {
  const warm = Math.floor(lengthOf(program, mapping) * WARM) + phase;
  const compiled = sideOf(program, mapping, true);
  const exact = sideOf(program, mapping, false);
  const [jit, steps] = [compiled.machine, exact.machine];
  for (const { machine } of [compiled, exact]) machine.run(warm);
  const [jitStart, stepsStart] = [jit.snapshot(), steps.snapshot()];
  // Where the run would be without an interrupt.
  const { state } = steps.harts[0]!;
  const pcs = Array.from({ length: arrivals + 2 }, () => {
    const { pc } = state;
    steps.run(1);
    return pc;
  });
  let instructions = 0;
  const hashes: string[] = [];
  for (let at = 1; at <= arrivals; at++) {
    jit.restore(jitStart);
    steps.restore(stepsStart);
    compiled.arrive(source, at);
    exact.arrive(source, at);
    const units = at + REST;
    jit.run(units);
    for (let i = 0; i < units; i++) steps.run(1);
    instructions += units;
    const { regions } = jit.jit!.stats;
    const epc = state.get64(L.MEPC);
    const hash = stateHash(jit);
    hashes.push(hash);
    const isSame = jit.spent === steps.spent && hash === stateHash(steps);
    const how = epc === pcs[at] ? differenceOf(jit, steps) : `it came at ${hex(epc)}, not ${hex(pcs[at]!)}`;
    if (epc !== pcs[at] || !isSame) return { how: `arrival ${at}: ${how}`, instructions, regions, hashes };
  }
  return { how: undefined, instructions, hashes, regions: jit.jit!.stats.regions };
}

const hex = (value: bigint): string => BigInt.asUintN(64, value).toString(16);

function differenceOf(a: Machine, b: Machine): string {
  const [left, right] = [a.harts[0]!.state, b.harts[0]!.state];
  if (a.spent !== b.spent) return `${a.spent} and ${b.spent} units`;
  if (left.pc !== right.pc) return `pc ${hex(left.pc)} and ${hex(right.pc)}`;
  for (let r = 1; r < 32; r++)
    if (left.getX(r) !== right.getX(r)) return `x${r} ${hex(left.getX(r))} and ${hex(right.getX(r))}`;
  return 'memory, devices or CSRs differ';
}

export interface SearchResult extends Omit<Comparison, 'hashes'> {
  readonly programs: number;
  readonly found: Case | undefined;
}

/**
 * So many programs, each with interrupts of one source at `arrivals` units in a row. `onCompared`
 * gets the comparison of each program.
 */
export function searchInterrupts(
  seed: number,
  programs: number,
  arrivals: number,
  onCompared?: (comparison: Comparison) => void,
): SearchResult {
  const random = new Random(seed);
  let instructions = 0;
  let regions = 0;
  for (let done = 0; done < programs; done++) {
    const drawn: Case = {
      program: drawProgram(random),
      mapping: MAPPINGS[done % MAPPINGS.length]!,
      source: random.pick(SOURCES),
      phase: random.below(200),
      arrivals,
    };
    const result = compareInterrupts(drawn);
    instructions += result.instructions;
    regions += result.regions;
    onCompared?.(result);
    if (result.how === undefined) continue;
    const howOf = (program: ShapeProgram): string | undefined => compareInterrupts({ ...drawn, program }).how;
    const program = shrinkProgram(drawn.program, small => howOf(small) !== undefined);
    return { how: howOf(program), found: { ...drawn, program }, programs: done + 1, instructions, regions };
  }
  return { how: undefined, found: undefined, programs, instructions, regions };
}
