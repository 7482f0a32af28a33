// The comparison itself is tested: an engine with one wrong instruction is caught, and the program
// that shows it is shrunk to that instruction. The wrong engine is the right one, run on an image
// in which the instruction was replaced.

import { expect, test } from 'vitest';
import { decode, encode } from '../../emulator/isa/codec.ts';
import type { Mnemonic } from '../../emulator/isa/table.ts';
import { runCampaign } from '../support/oracle/campaign.ts';
import { kcovboxRunner } from '../support/oracle/kcovbox.ts';
import { INTEGER } from '../support/oracle/profiles.ts';
import type { CountingRunner } from '../support/oracle/runner.ts';

/** Executes `wrong` wherever the 32-bit instruction `right` stands in a program. */
function mutant(right: Mnemonic, wrong: Mnemonic): CountingRunner {
  const engine = kcovboxRunner('interp');
  return {
    name: `${right} as ${wrong}`,
    get instret() {
      return engine.instret;
    },
    run(image) {
      const bytes = image.bytes.slice();
      const view = new DataView(bytes.buffer);
      const end = image.blocks[0]!;
      let at = Number(image.entries[0]! - 0x8000_0000n);
      while (at + 4 <= end) {
        const insn = decode(view.getUint32(at, true));
        if (insn?.name === right && insn.bytes === 4) view.setUint32(at, encode(wrong, { ...insn }), true);
        at += insn?.bytes ?? 2;
      }
      return engine.run({ ...image, bytes });
    },
  };
}

const options = { seed: 1, programs: 20, reference: kcovboxRunner('interp') };
const profile = { ...INTEGER, pieces: 60, rounds: 1 };

test('an engine agrees with itself', () => {
  const result = runCampaign({ ...options, profile, subjects: [kcovboxRunner('interp')] });
  expect(result).toMatchObject({ programs: 20, different: 0, report: undefined });
});

test.each([
  ['mulhsu', 'mulhu'],
  ['bltu', 'blt'],
  ['lwu', 'lw'],
] as const)('%s executed as %s is caught and shown alone', (right, wrong) => {
  const result = runCampaign({
    ...options,
    profile: { ...profile, without: [wrong] },
    subjects: [mutant(right, wrong)],
  });
  expect(result.different).toBeGreaterThan(0);
  const listing = result.report!.split('\n').filter(line => /^8\d{7}: /.test(line));
  expect(listing.some(line => line.includes(right))).toBe(true);
  expect(listing.length).toBeLessThan(12);
});
