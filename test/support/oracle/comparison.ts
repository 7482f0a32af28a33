// One seed's comparisons of our engines with oracles, and their totals.

import { expect } from 'vitest';
import type { EngineKind } from '../../../emulator/index.ts';
import { seedText } from '../random.ts';
import { runCampaign } from './campaign.ts';
import type { Profile } from './generate.ts';
import { kcovboxRunner } from './kcovbox.ts';
import type { ImageRunner } from './runner.ts';

export class Comparison {
  readonly #seed: number;
  readonly #totals = new Map<string, { programs: number; instructions: number }>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Runs so many programs of a profile on engines and on an oracle; none may differ. */
  run(
    engines: readonly EngineKind[],
    reference: ImageRunner,
    profile: Profile,
    programs: number,
    cpu?: string,
  ): void {
    const subjects = engines.map(engine => kcovboxRunner(engine, cpu));
    const result = runCampaign({ profile, seed: this.#seed, programs, reference, subjects });
    const key = `${engines.join(', ')} and ${reference.name}`;
    const total = this.#totals.get(key) ?? { programs: 0, instructions: 0 };
    this.#totals.set(key, {
      programs: total.programs + programs,
      instructions: total.instructions + result.instructions,
    });
    expect(
      result.report,
      `${result.different} of ${result.programs} programs differ\n${result.report}`,
    ).toBeUndefined();
  }

  /** One line per pair. Instructions are those of the programs; all were compared. */
  print(): void {
    for (const [pair, { programs, instructions }] of this.#totals)
      console.info(
        `${pair}: seed ${seedText(this.#seed)}, ${programs} programs, ${instructions} instructions`,
      );
  }
}
