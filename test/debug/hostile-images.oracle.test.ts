// Real images with damaged debug information, under a run that is not: the debugger answers or says
// why it cannot. hostile-images.slow.test.ts has the long dose.
import { expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { searchDamaged } from './hostile.ts';

const seed = seedFromEnvironment(0xdeb6);

test.skipIf(missing('clang and lld', ASSEMBLER))(
  `damaged images, seed ${seedText(seed)}`,
  async () => {
    const { images, refused, answers } = await searchDamaged(seed, 120);
    console.info(`${images} images, ${refused} questions refused, ${answers} answers`);
    expect(refused).toBeGreaterThan(20);
    expect(answers).toBeGreaterThan(500);
  },
  300_000,
);
