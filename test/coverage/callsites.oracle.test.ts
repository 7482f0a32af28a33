/** Call sites against llvm-objdump, with and without linker relaxation. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hex } from '../../coverage/base/bytes.ts';
import { CallSites, Elf, HOOKS } from '../../coverage/index.ts';
import { buildFixture, buildStatic, fixture, missing, run } from './support.ts';

const reason = missing('call site oracle', 'clang-19', 'ld.lld-19', 'llvm-objdump-19');

/** Hook calls as objdump shows them: `address hook` of the jal or jalr. */
function oracle(path: string): string[] {
  const text = run('llvm-objdump-19', ['-d', '--no-show-raw-insn', path]);
  const symbols = new Map<string, string>();
  for (const line of run('llvm-nm-19', [path]).split('\n')) {
    const [address, , name] = line.split(' ');
    if (name && (HOOKS as readonly string[]).includes(name))
      symbols.set(BigInt(`0x${address}`).toString(16), name);
  }
  const found: string[] = [];
  let auipc: bigint | undefined;
  for (const line of text.split('\n')) {
    const match = /^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$/.exec(line);
    if (!match) continue;
    const [, at, mnemonic, operands] = match as unknown as [string, string, string, string];
    const address = BigInt(`0x${at}`);
    let target: bigint | undefined;
    if (mnemonic === 'jal') target = BigInt(operands.split(' ')[0]!);
    const pair = /^(-?0x[0-9a-f]+|-?\d+)?\(?ra\)?/.exec(operands);
    if (mnemonic === 'jalr' && pair && auipc !== undefined) target = auipc + signed(pair[1] ?? '0');
    const name = target === undefined ? undefined : symbols.get(BigInt.asUintN(64, target).toString(16));
    if (name) found.push(`0x${at} ${name}`);
    const upper = /^ra, (0x[0-9a-f]+|\d+)/.exec(operands);
    auipc =
      mnemonic === 'auipc' && upper ? address + (BigInt.asIntN(20, BigInt(upper[1]!)) << 12n) : undefined;
  }
  return found;
}

const signed = (text: string) => (text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text));

describe.skipIf(reason)('call sites', () => {
  for (const relax of [false, true]) {
    it(`are those of llvm-objdump, ${relax ? 'relaxed' : 'not relaxed'}`, () => {
      const path = buildFixture({ relax });
      const sites = new CallSites(new Elf(readFileSync(path), path));
      const ours = Array.from(
        { length: sites.count },
        (_, i) => `${hex(sites.call[i]!)} ${HOOKS[sites.hook[i]!]}`,
      );
      expect(ours.length).toBeGreaterThan(20);
      expect(ours).toEqual(oracle(path));
      for (let i = 0; i < sites.count; i++) {
        expect(sites.find(sites.call[i]! + 4)).toBe(i);
        expect(sites.blockLow[i]!).toBeLessThanOrEqual(sites.call[i]!);
        expect(sites.blockHigh[i]!).toBeGreaterThanOrEqual(sites.ret[i]!);
        if (i > 0 && sites.hook[i] === 0)
          expect(sites.blockLow[i]!).toBeGreaterThanOrEqual(sites.ret[i - 1]! - 8);
      }
    });
  }

  it('has a plain answer for a PC that is none, and for images without hooks', () => {
    const sites = new CallSites(fixture());
    expect(sites.find(sites.call[0]!)).toBe(-1);
    expect(sites.explainMissing(sites.call[3]!)).toMatch(
      / is not a call site, but 0x[0-9a-f]+ is: call address instead of return/,
    );
    expect(sites.explainMissing(0x1000)).toMatch(/^0x1000 is not a call site: .* has no code there$/);
    const path = buildStatic();
    expect(() => new CallSites(new Elf(readFileSync(path), path))).toThrow(
      /has no coverage hooks: it is not built with/,
    );
  });
});
