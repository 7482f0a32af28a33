// All historical bugs: with the bug, its trigger shows it; without, the same program is clean.
import { beforeAll, describe, it } from 'vitest';
import { readBugs } from '../../cli/bugs/rows.ts';
import { buildKernel, findTool, hasGlibc } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { isCleanWithout, shows } from './bugs.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
const CONF = prebuilt('linux+kasan+ubsan+debug+bugs');

describe.skipIf(!ready)('every historical bug', () => {
  beforeAll(async () => {
    await buildKernel(CONF);
  });

  it.each(readBugs().map(bug => [bug.id, bug] as const))('%s', (_, bug) => {
    shows(bug);
    isCleanWithout(bug);
  });
});
