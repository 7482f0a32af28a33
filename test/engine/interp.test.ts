import { describe, expect, test } from 'vitest';
import { EXIT } from '../../emulator/engine/engine.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';

const BASE = BigInt(RAM_BASE);

describe('interpreter', () => {
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
});
