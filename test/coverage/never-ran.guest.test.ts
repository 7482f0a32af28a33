/**
 * A function that never ran is known without its flow (`LineJudge.neverRan`). The oracle is the
 * verdict by conservation and paths: all of its blocks did not run, and each line has the verdict
 * that the blocks give. The traces are random: some functions with records, some with crossings.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Coverage, Elf, Program, pcOf, TraceBuilder } from '../../coverage/index.ts';
import { judgeLine } from '../../coverage/model/lines.ts';
import { NOT_RUN } from '../../coverage/model/reach.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from './support.ts';

const reason = missing('functions that never ran', 'clang-19', 'ld.lld-19');
const TRACES = 4;

describe.skipIf(reason)('functions that never ran', () => {
  it('have no block that ran, and lines with the verdict of their blocks', async () => {
    const elf = new Elf(readFileSync((await buildKernel(prebuilt('linux+teach'))).path), 'kernel');
    const program = new Program(elf);
    const seed = seedFromEnvironment(0x1d1e);
    const random = new Random(seed);
    for (let trial = 0; trial < TRACES; trial++) {
      const builder = new TraceBuilder({ image: elf.imageId, ...(trial % 2 === 0 && { flow: 'known' }) });
      const source = builder.source({ test: 'random', unique: trial === 2 });
      for (let i = 0; i < 40 * trial; i++) builder.pc(source, pcOf(program.ret(random.below(program.count))));
      for (const { low, high } of program.flow.ranges) {
        const returns = random.below(20) === 0 ? program.flow.callReturns({ low, high }) : [];
        if (returns.length > 0)
          builder.crossing(source, pcOf(returns[random.below(returns.length)]!), random.below(2), 1);
      }
      const { verdicts } = new Coverage(builder.finish(), program);
      let idle = 0;
      for (const { low } of program.flow.ranges) {
        if (!verdicts.neverRan(low)) continue;
        idle++;
        const { blocks, states, counts } = verdicts.at(low)!;
        const where = `${elf.symbols.at(low)?.name}, trace ${trial}, seed ${seedText(seed)}`;
        expect(blocks.length, where).toBeGreaterThan(0);
        expect(
          [...states].every(state => state === NOT_RUN) && !counts.some(count => count !== 0),
          where,
        ).toBe(true);
      }
      // Without complete crossings nothing is known.
      if (trial % 2 === 1) expect(idle).toBe(0);
      else expect(idle).toBeGreaterThan(0.5 * program.flow.ranges.length - 40 * trial);
      const slow = { proof: verdicts.proof, at: (addr: number) => verdicts.at(addr), neverRan: () => false };
      for (const { path, lines } of program.files)
        for (const [line, code] of lines)
          expect(judgeLine(code, verdicts), `${path}:${line}, seed ${seedText(seed)}`).toEqual(
            judgeLine(code, slow),
          );
    }
  });
});
