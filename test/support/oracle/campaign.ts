// Many random programs through two machines; the first that differs is shrunk and shown.

import { Random, seedText } from '../random.ts';
import { generateProgram, type Profile } from './generate.ts';
import { buildImage, compareMemories, harnessInstructions } from './image.ts';
import type { Program } from './program.ts';
import type { CountingRunner, ImageRunner } from './runner.ts';
import { explain, shrink } from './shrink.ts';

export interface CampaignResult {
  readonly programs: number;
  /** Instructions that the subjects retired in the programs, without the harness around them. */
  readonly instructions: number;
  /** Programs whose final states differ, of all subjects. */
  readonly different: number;
  /** Shrunk and listed: the first of them. */
  readonly report: string | undefined;
}

export interface CampaignOptions {
  readonly profile: Profile;
  readonly seed: number;
  readonly programs: number;
  readonly reference: ImageRunner;
  /** Each runs the programs; the reference runs them once for all. */
  readonly subjects: readonly CountingRunner[];
}

/** Programs per image: keeps an image within the RAM of every runner. */
const BATCH = 400;

export function runCampaign(options: CampaignOptions): CampaignResult {
  const { profile, seed, reference, subjects } = options;
  const random = new Random(seed);
  let instructions = 0;
  let different = 0;
  let report: string | undefined;
  for (let done = 0; done < options.programs; done += BATCH) {
    const count = Math.min(BATCH, options.programs - done);
    const programs = Array.from({ length: count }, () => generateProgram(random, profile));
    const image = buildImage(programs);
    const wanted = reference.run(image);
    for (const subject of subjects) {
      const before = subject.instret;
      const memory = subject.run(image);
      instructions += subject.instret - before - harnessInstructions(image, programs, memory);
      const found = compareMemories(image, wanted, memory);
      different += found.size;
      const [first] = found.keys();
      if (first !== undefined && report === undefined) {
        const listed = reportOf(programs[first]!, reference, subject);
        report = `seed ${seedText(seed)}, program ${done + first}, ${subject.name}\n${listed}`;
      }
    }
  }
  return { programs: options.programs, instructions, different, report };
}

function reportOf(program: Program, reference: ImageRunner, subject: ImageRunner): string {
  const fails = (candidate: Program): boolean => {
    const image = buildImage([candidate]);
    return compareMemories(image, reference.run(image), subject.run(image)).size > 0;
  };
  const small = fails(program) ? shrink(program, fails) : program;
  return explain(small, reference, subject);
}
