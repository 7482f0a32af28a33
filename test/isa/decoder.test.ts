// Words of an extension on a hart that lacks it.

import { expect, test } from 'vitest';
import { newInsn } from '../../emulator/isa/codec.ts';
import { decoderOf } from '../../emulator/isa/decoder.ts';
import { ALL_EXTENSIONS, type OptionalExtension } from '../../emulator/isa/extensions.ts';
import { encode, ROWS } from '../../emulator/isa/index.ts';

const decodes = (names: Iterable<OptionalExtension>, word: number): boolean =>
  decoderOf(new Set(names))(word, newInsn());
const allBut = (name: OptionalExtension): OptionalExtension[] => [...ALL_EXTENSIONS].filter(n => n !== name);

test('an instruction decodes exactly when its extension is there', () => {
  for (const name of ALL_EXTENSIONS) {
    if (name === 'zicbop') continue; // hints
    for (const row of ROWS.filter(one => one.ext === name)) {
      const word = encode(row.name, {});
      expect(decodes(allBut(name), word), row.name).toBe(false);
      expect(decodes([name], word), row.name).toBe(true);
    }
  }
});

test('a form of Zcb needs Zcb and the extension of what it stands for', () => {
  const cSextB = 0x9c65;
  expect(decodes(['zcb', 'zbb'], cSextB)).toBe(true);
  expect(decodes(allBut('zcb'), cSextB)).toBe(false);
  expect(decodes(allBut('zbb'), cSextB)).toBe(false);
});

test('other forms with the same funct3 do not', () => {
  const cSub = 0x8c09;
  expect(decodes([], cSub)).toBe(true);
});
