// The code of short regions, instruction by instruction: a change of the emitter shows here what it
// changes. Each listing has the checks at the entry first, then the guest's instructions, then the
// ways out. `vitest -u` writes new listings: read the difference.

import { describe, expect, test } from 'vitest';
import { emitRegion } from '../../emulator/engine/jit/emit/emit.ts';
import { REGION_PARAMS, REGION_RESULTS } from '../../emulator/engine/jit/emit/entry.ts';
import { FpHelpers } from '../../emulator/engine/jit/emit/fp-helpers.ts';
import { discover, type Tier } from '../../emulator/engine/jit/region/region.ts';
import { WALK_M } from '../../emulator/hart/layout.ts';
import { decode, encode as e } from '../../emulator/isa/index.ts';
import { I32, ModuleBuilder } from '../../emulator/wasm/module.ts';
import { wasmText } from '../support/wasm-text.ts';

const ENTRY = 0x8000_1000n;
const RETURN = e('jalr', { rd: 0, rs1: 1, imm: 0 });

const REGIONS: Readonly<Record<string, readonly number[]>> = {
  // a0 = a1 + 4; return
  addi: [e('addi', { rd: 10, rs1: 11, imm: 4 }), RETURN],
  // a0 = *(a1 + 8); return
  ld: [e('ld', { rd: 10, rs1: 11, imm: 8 }), RETURN],
  // *(a1 + 8) = a0; return
  sd: [e('sd', { rs1: 11, rs2: 10, imm: 8 }), RETURN],
  // fa0 = fa1 + fa2; return
  'fadd.d': [e('fadd.d', { rd: 10, rs1: 11, rs2: 12, rm: 7 }), RETURN],
  // do a0 -= a1; while (a0 != 0); return
  loop: [e('sub', { rd: 10, rs1: 10, rs2: 11 }), e('bne', { rs1: 10, rs2: 0, imm: -4 }), RETURN],
};

/** Where nothing is translated: 128 MiB of RAM of which the first 64 KiB hold code. */
const FLAT = {
  ...{ hostBase: 0x20_0000, base: 0x8000_0000, bytes: 0x800_0000, codeMap: 0x10_0000 },
  ...{ dataFirst: 0x1_0000, walk: WALK_M },
};

function listing(words: readonly number[], flat?: typeof FLAT, tier?: Tier): string {
  const fetch = (at: number) => (at >= 0 && at < 4 * words.length ? decode(words[at / 4]!) : undefined);
  const view = {
    fetch,
    isEntry: () => false,
    wasReached: () => true,
    inlineAt: () => undefined,
    word: () => undefined,
    pointer: () => undefined,
    lastTarget: () => undefined,
  };
  const region = discover(ENTRY, view, tier);
  const m = new ModuleBuilder();
  const [slow, soft, load, settle] = [
    m.importFunction('env', 'slow', [I32], [I32]),
    m.importFunction('env', 'soft', [I32], []),
    m.importFunction('env', 'deviceLoad', [I32, I32], [I32]),
    m.importFunction('env', 'deviceSettle', [I32], [I32]),
  ];
  const dispatch = m.importFunction('env', 'dispatch', [...REGION_PARAMS, I32], REGION_RESULTS);
  const jump = m.importFunction('env', 'jump', REGION_PARAMS, REGION_RESULTS);
  const door = m.func(REGION_PARAMS, REGION_RESULTS);
  const body = m.func(REGION_PARAMS, REGION_RESULTS);
  const device = { load, settle, ramBase: 0x8000_0000 };
  const fp = new FpHelpers(m, soft);
  const port = {
    slow,
    device,
    isDeviceLoad: () => false,
    fp,
    physicalOffset: 0n,
    hosts: new Map(),
    helperOf: () => undefined,
  };
  const linker = {
    dispatch,
    jump,
    direct: () => undefined,
    regionType: m.type(REGION_PARAMS, REGION_RESULTS),
    link: () => undefined,
    jumpCache: 0x1_0000,
    jumpCacheMask: 4095,
  };
  const placement = {
    ...{ fetchView: 3, dataView: 3, ppns: region.pages.map(() => 0x80001) },
    ...(flat && { flat }),
    ...(tier === 'warm' && { sample: { at: 0x1_8000, slot: 7 } }),
  };
  emitRegion({ door, body }, region, placement, port, linker, FLAT);
  return `${wasmText(door.code.view())}\n;; body\n${wasmText(body.code.view())}`;
}

describe('the code of a region', () => {
  test.each(Object.entries(REGIONS))('for %s is the listed one', async (name, words) => {
    await expect(listing(words)).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  test.each(['addi', 'ld', 'sd', 'loop'])('for %s, warm, is the listed one', async name => {
    await expect(listing(REGIONS[name]!, undefined, 'warm')).toMatchFileSnapshot(`golden/${name}-warm.txt`);
  });

  test.each(['ld', 'sd'])('for %s without translation is the listed one', async name => {
    await expect(listing(REGIONS[name]!, FLAT)).toMatchFileSnapshot(`golden/${name}-flat.txt`);
  });
});
