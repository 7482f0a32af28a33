// A submission with a device is judged by a process of its own: a device may loop without end in
// the emulator, which no budget of the guest's ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Submission } from '../../grade/judge/lab.ts';
import { type LabScore, labScore } from '../../grade/schema.ts';
import { scoreOf } from '../../grade/score.ts';
import type { Lab } from '../../host/lab/lab.ts';
import { makeFolders, packageRoot, sha256 } from '../../toolchain/index.ts';
import { endProcess } from './workers.ts';

/** Processor seconds of one submission, ten times those of a solution. It guards the machine. */
const SECONDS = 150;
/** Set in the process of one submission. */
const ALONE = 'KCOVBOX_GRADE_ALONE';

/** The processes that run now, each with the folder of its files. */
const running = new Map<ChildProcess, string>();
let isEnding = false;

/** Ends them for good, and removes their files: for a command that a signal ends. */
export async function endApart(): Promise<void> {
  isEnding = true;
  await Promise.all(
    [...running].map(async ([child, folder]) => {
      await endProcess(child);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }),
  );
}

export const needsOwnProcess = (lab: Lab): boolean =>
  process.env[ALONE] === undefined && lab.manifest.files.some(file => file.device);

/** `capsules`: the folder of recorded runs, or undefined. */
export async function judgeApart(
  lab: Lab,
  submission: Submission,
  teacher: string | undefined,
  capsules: string | undefined,
): Promise<LabScore> {
  const folder = mkdtempSync(join(tmpdir(), 'kcovbox-grade-'));
  try {
    const own = join(folder, 'in', submission.name);
    makeFolders(own);
    for (const [name, bytes] of submission.files) writeFileSync(join(own, name), bytes);
    const out = join(folder, 'out');
    const words = ['grade', join(folder, 'in'), '--lab', lab.folder, '-o', out, '--unsafe'];
    if (teacher !== undefined) words.push('--teacher', teacher);
    if (capsules === undefined) words.push('--no-capsules');
    const command = [process.execPath, join(packageRoot(), 'bin', 'kcovbox.cjs'), ...words];
    const wasEnded = await limited(command, folder);
    const path = join(out, submission.name, 'score.json');
    if (!existsSync(path)) return unended(lab, submission, wasEnded);
    const score = labScore.parse(JSON.parse(readFileSync(path, 'utf8')));
    if (capsules !== undefined) cpSync(join(out, submission.name), capsules, { recursive: true });
    return score;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Ends when the process does; true: it was ended, because it has used up its seconds. Under
 * `endApart` it never ends, so that nothing follows.
 */
function limited(command: readonly string[], folder: string): Promise<boolean> {
  const script = `ulimit -t ${SECONDS}; exec "$0" "$@"`;
  const env = { ...process.env, [ALONE]: '1' };
  const child = spawn('/bin/sh', ['-c', script, ...command], { stdio: 'ignore', env });
  running.set(child, folder);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (_, signal) => {
      if (isEnding) return;
      running.delete(child);
      resolve(signal !== null);
    });
  });
}

/** The score of a submission whose judgement did not come to an end. */
const unended = (lab: Lab, { name, sha256: ofFiles }: Submission, wasEnded: boolean): LabScore =>
  scoreOf(
    { name: lab.name, sha256: lab.sha256 },
    { name, sha256: ofFiles },
    lab.manifest.checks.map(({ id, says, points: of }) => ({
      ...{ id, says, of, status: wasEnded ? ('budget' as const) : ('error' as const), points: 0 },
      why: wasEnded
        ? `its device does not come to an end within ${SECONDS} s of processor time`
        : 'kcovbox could not judge this: it ended without a score',
    })),
    sha256,
  );
