// The registers at a function's return, from each instruction of its epilogue: behind the return,
// and behind a jump to another function, which returns in its place.
import { describe, expect, test } from 'vitest';
import { encode as e } from '../../emulator/index.ts';
import { atReturn } from '../../run/epilogue.ts';

const CODE = 0x1000n;
const STACK = 0x8000n;
const FRAME = 48;
/** Registers of the caller, as the frame has them. */
const CALLER = { ra: 0x5000n, s0: 0x9000n };
const [T1, A0, A5] = [6, 10, 15];
const RAISE = e('addi', { rd: 2, rs1: 2, imm: FRAME });
const EPILOGUE = [
  e('ld', { rd: 1, rs1: 2, imm: 40 }),
  e('ld', { rd: 8, rs1: 2, imm: 32 }),
  e('ld', { rd: 9, rs1: 2, imm: 24 }),
  RAISE,
];
const jump = (rs1: number): number => e('jalr', { rd: 0, rs1, imm: 0 });

/** From each of these instructions on; registers as the ones before have left them. */
function fromEach(code: readonly number[]): unknown[] {
  const insn = (at: bigint): number | undefined => code[Number(at - CODE) / 4];
  const word = (at: bigint): bigint | undefined =>
    ({ [`${STACK + 40n}`]: CALLER.ra, [`${STACK + 32n}`]: CALLER.s0 })[`${at}`];
  const registers = { ra: 0x1111n, sp: STACK, s0: STACK + BigInt(FRAME) };
  return code.map((bits, i) => {
    const found = atReturn(CODE + BigInt(4 * i), registers, insn, word);
    if (bits === EPILOGUE[0]) registers.ra = CALLER.ra;
    if (bits === EPILOGUE[1]) registers.s0 = CALLER.s0;
    if (bits === RAISE) registers.sp += BigInt(FRAME);
    return found;
  });
}

const ENDS: Readonly<Record<string, readonly number[]>> = {
  'the return': [jump(1)],
  'a call in tail position': [e('auipc', { rd: T1, imm: 0x1000 }), jump(T1)],
  'one that is near': [e('jal', { rd: 0, imm: 0x800 })],
  'one through a register': [jump(A5)],
};

describe('behind the loads of an epilogue', () => {
  test.each(Object.entries(ENDS))('%s', (_, end) => {
    const code = [...EPILOGUE, ...end];
    const expected = { ...CALLER, sp: STACK + BigInt(FRAME) };
    expect(fromEach(code)).toEqual(code.map(() => expected));
  });
});

test('a switch and a loop end no function', () => {
  const load = e('ld', { rd: A0, rs1: A0, imm: 0 });
  expect(fromEach([load, jump(A0)])).toEqual([undefined, undefined]);
  expect(fromEach([load, e('jal', { rd: 0, imm: -4 })])).toEqual([undefined, undefined]);
  const lower = e('addi', { rd: 2, rs1: 2, imm: -FRAME });
  expect(fromEach([lower, jump(A0)])).toEqual([undefined, undefined]);
});
