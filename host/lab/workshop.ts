// Judging on this host: its compilers, the package's kernel, recorded runs as files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JudgeOptions, judge, wantedOf } from '../../grade/judge/judge.ts';
import type { Files, Submission } from '../../grade/judge/lab.ts';
import { needsTools } from '../../grade/judge/portable.ts';
import type { Workshop } from '../../grade/judge/workshop.ts';
import type { LabScore } from '../../grade/schema.ts';
import {
  buildConfined,
  buildKernel,
  packageRoot,
  requireBuildTools,
  sha256,
  writeWhole,
} from '../../toolchain/index.ts';
import { formatCapsule } from '../capsule.ts';
import { describe } from '../describe.ts';
import { loadDeviceBytes } from '../device.ts';
import { readInput } from '../input.ts';
import { type Lab, readFolder } from './lab.ts';

/** `say`: takes notes of the compiler. */
export const workshop = (say: (line: string) => void): Workshop => ({
  sha256,
  source(path) {
    try {
      return readFileSync(join(packageRoot(), 'kernel', path), 'utf8');
    } catch {
      return undefined;
    }
  },
  folder: path => readdirSync(join(packageRoot(), 'kernel', path)).sort(),
  async kernel(conf, overlay) {
    const options = { say, ...(overlay.size > 0 && { overlay }) };
    return readInput((await buildKernel(conf, options)).path, 'kernel');
  },
  program: async (files, name, dialect) =>
    readInput(await buildConfined(files, name, { dialect }), 'program'),
  device: loadDeviceBytes,
  capsule({ images, choice, outcome, journal, printed }) {
    const contents = {
      run: describe(images, choice, journal, false),
      ...{ outcome, journal },
      printed: { text: printed, bytes: printed.length },
      images: new Map([
        ['kernel.bin', images.kernel],
        ['initrd.bin', images.initrd],
      ]),
    };
    return formatCapsule(contents, false, `of ${images.name}`);
  },
  // Runs of programs that are compiled already would keep signals waiting until the last one.
  turn: () => new Promise(turn => setImmediate(turn)),
});

export interface HereOptions extends Omit<JudgeOptions, 'workshop' | 'keep'> {
  /** Folder of the recorded runs of failures; undefined: none are recorded. */
  readonly capsules?: string | undefined;
  readonly say?: (line: string) => void;
}

/**
 * Judges a submission here. Errors: ToolchainError, before the first check, if a tool is missing
 * that one of them needs: that is nobody's score.
 */
export function judgeHere(
  lab: Lab,
  submission: Submission,
  { capsules, say = () => {}, ...options }: HereOptions,
): Promise<LabScore> {
  if (submission.missing.length === 0 && wantedOf(lab, options.only).some(needsTools)) requireBuildTools();
  const keep =
    capsules === undefined
      ? undefined
      : (path: string, bytes: Uint8Array) => writeWhole(join(capsules, path), bytes);
  return judge(lab, submission, { ...options, workshop: workshop(say), keep });
}

/** The teacher's solution of a lab; undefined where it is not: on the machines of students. */
export function solutionOf(lab: Lab, teacher = join(lab.folder, 'teacher')): Files | undefined {
  const folder = join(teacher, 'solution');
  return existsSync(folder) ? readFolder(folder) : undefined;
}
