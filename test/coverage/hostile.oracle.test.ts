/**
 * Real images with damaged bytes: the reader returns a value or an error of one line, in bounded
 * time.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CallSites, CoverageError, Elf, Program, Symbolizer } from '../../coverage/index.ts';
import { buildFixture, missing } from './support.ts';

const reason = missing('hostile images', 'clang-19', 'ld.lld-19');
const SEED = Number(process.env['KCOVBOX_TEST_SEED'] ?? 7);
const ROUNDS = 150;

describe.skipIf(reason)('damaged images', () => {
  for (const dwarf of [4, 5] as const) {
    it(`never end in anything but one line, DWARF ${dwarf}, seed ${SEED}`, () => {
      const whole = new Uint8Array(readFileSync(buildFixture({ dwarf })));
      const good = new Elf(whole, 'x.elf');
      const targets = good.sections.filter(s => /^\.(debug|symtab|strtab|text)/.test(s.name) && s.size > 0);
      const calls = Array.from(new CallSites(good).call);
      let seed = SEED;
      const random = (below: number) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return Math.floor((seed / 2 ** 32) * below);
      };
      let failures = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const bytes = whole.slice();
        for (let n = 1 + random(6); n > 0; n--) {
          const section = targets[random(targets.length)]!;
          const at = section.offset + random(section.size);
          bytes[at] = [0, 0xff, 0x7f, 0x80, 0x16, random(256)][random(6)]!;
        }
        try {
          const elf = new Elf(bytes, 'x.elf');
          const symbolizer = new Symbolizer(elf);
          for (const call of calls) symbolizer.frames(call);
          new Program(elf);
        } catch (error) {
          failures++;
          if (!(error instanceof CoverageError)) throw error;
          expect(error.message).toMatch(/^[^\n]{10,300}$/);
        }
      }
      expect(failures).toBeGreaterThan(10);
    });
  }
});
