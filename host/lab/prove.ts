// Does a lab hold what it says? Its solution passes, its starter does not, each of its mutants
// compiles and dies by the solution's tests, and the commands of its text run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, failingSeed, isKilled, seedText, sourceOf } from '../../grade/judge/checks.ts';
import { bytesOf, type Files, refused, type Submission, submissionOf } from '../../grade/judge/lab.ts';
import { Runs } from '../../grade/judge/runs.ts';
import { mutantsOf } from '../../grade/mutate.ts';
import type { CheckOf, LabScore } from '../../grade/schema.ts';
import { CompileError, packageRoot, sha256OfParts, writeWhole } from '../../toolchain/index.ts';
import { isOfPackage, type Lab, labText, readSubmission } from './lab.ts';
import { checkCommands, checkDevices } from './trust.ts';
import { judgeHere, solutionOf, workshop } from './workshop.ts';
import { kernelFolder, startLab } from './workspace.ts';

export interface Proof {
  readonly what: string;
  /** The fault; undefined: it holds. */
  readonly fault: string | undefined;
}

/** Mutants that a check takes at most. */
const MUTANTS_MAX = 16;
/** Of the points, in percent, that the starter may have. */
const STARTER_MAX = 50;
const BUDGET = 400_000_000;
/** Schedule seeds among which one must fail on the starter. */
const SEEDS = 200;
const COMMAND_MS = 120_000;

/** The first check that is not as `wanted`. */
function firstOf(
  score: LabScore,
  isWrong: (check: LabScore['checks'][number]) => boolean,
): string | undefined {
  const check = score.checks.find(isWrong);
  return check && `${check.id} (${check.status}): ${check.why}`;
}

/**
 * Solution and starter. `tell` hears of each proof. Errors: KcovboxError for a lab of a stranger
 * that runs code of the host; where there is no solution.
 */
export async function prove(
  lab: Lab,
  { chooses, tell, say }: { chooses: boolean; tell: (proof: Proof) => void; say: (line: string) => void },
): Promise<void> {
  const solution = solutionOf(lab);
  if (!solution) throw refused(`lab check: ${withoutSolution(lab)}`);
  checkDevices(lab);
  if (commandsIn(lab).length > 0) checkCommands(lab);
  const { submission, missing } = await seeded(lab, say);
  for (const check of lab.manifest.checks)
    if (check.kind === 'seed') {
      const fault = missing.includes(check.id) ? 'there is none' : undefined;
      tell({ what: `a schedule seed up to ${SEEDS} of ${check.id} fails on the starter`, fault });
    }
  const mutants = await proveMutants(lab, submission, solution, chooses, tell, say);
  const ready = { ...lab, mutants };
  if (chooses && Object.keys(mutants).length > 0)
    writeWhole(join(lab.folder, 'mutants.json'), `${JSON.stringify(mutants, null, 2)}\n`);
  const right = await judgeHere(ready, submission, { solution, say });
  tell({ what: 'the solution passes', fault: firstOf(right, check => check.status !== 'pass') });
  const starter = readSubmission(lab, join(lab.folder, 'starter'), 'starter');
  const wrong = await judgeHere(ready, starter, { solution, say });
  const error = firstOf(wrong, check => check.status === 'error');
  const percent = Math.round((100 * wrong.points) / wrong.of);
  const tooMuch = percent > STARTER_MAX ? `it has ${percent} % of the points` : undefined;
  tell({ what: 'the starter does not', fault: error ?? tooMuch });
  for (const proof of runCommands(lab)) tell(proof);
}

/**
 * The solution, with the first seed that fails on the starter in place of its own: each edit of the
 * kernel moves it. `missing`: checks without one.
 */
export async function seeded(
  lab: Lab,
  say: (line: string) => void,
): Promise<{ submission: Submission; missing: readonly string[] }> {
  const own = readSubmission(lab, join(lab.folder, 'teacher', 'solution'), 'solution');
  const files = new Map(own.files);
  const missing: string[] = [];
  for (const check of lab.manifest.checks) {
    if (check.kind !== 'seed') continue;
    const runs = new Runs(lab, own, workshop(say));
    const found = await failingSeed(runs, check, SEEDS, runs.placed(lab.starter));
    if (found) files.set(check.file, bytesOf(`${seedText(found.seed)}\n`));
    else missing.push(check.id);
  }
  return { submission: submissionOf(lab, files, own.name, sha256OfParts), missing };
}

/** The package leaves the solutions of its labs out, because students install it. */
const withoutSolution = (lab: Lab): string =>
  isOfPackage(lab)
    ? `the installed package has no solutions of its labs; in a checkout of kcovbox they are in labs/${lab.name}/teacher/solution: kcovbox lab check CHECKOUT/labs/${lab.name}`
    : `${lab.folder} has no folder teacher/solution; put the files there that have all points`;

async function proveMutants(
  lab: Lab,
  submission: Submission,
  solution: Files,
  chooses: boolean,
  tell: (proof: Proof) => void,
  say: (line: string) => void,
): Promise<Record<string, readonly string[]>> {
  const runs = new Runs(lab, submission, workshop(say), solution);
  const bench: Bench = { runs, solution, explains: false };
  const chosen: Record<string, readonly string[]> = {};
  for (const check of lab.manifest.checks) {
    if (check.kind !== 'mutants') continue;
    const base: Files = check.of === 'solution' ? runs.placed(solution) : new Map();
    const all = mutantsOf(sourceOf(runs, check, base), check.functions).map(({ name }) => name);
    const names = chooses ? spread(all) : (lab.mutants[check.id] ?? []);
    const killed: string[] = [];
    for (const name of names) {
      if (chooses && killed.length === MUTANTS_MAX) break;
      const fate = await fateOf(bench, check, base, name);
      if (fate === undefined) killed.push(name);
      else if (!chooses) tell({ what: `mutant ${name}`, fault: fate });
    }
    chosen[check.id] = [...killed].sort((a, b) => all.indexOf(a) - all.indexOf(b));
    const few =
      killed.length < check.need ? `${killed.length} are killed, the check needs ${check.need}` : undefined;
    tell({ what: `the ${killed.length} mutants of ${check.id} die by the solution's tests`, fault: few });
  }
  return chosen;
}

/** Why it is none of the lab's; undefined: it compiles and dies. */
async function fateOf(
  bench: Bench,
  check: CheckOf<'mutants'>,
  base: Files,
  name: string,
): Promise<string | undefined> {
  try {
    return (await isKilled(bench, check, base, name, check.budget ?? BUDGET))
      ? undefined
      : 'the tests do not notice it';
  } catch (error) {
    if (error instanceof CompileError) return 'it does not compile';
    throw error;
  }
}

/** Every third, then the others: faults of all parts of the file come early. */
const spread = (names: readonly string[]): string[] =>
  [0, 1, 2].flatMap(offset => names.filter((_, i) => i % 3 === offset));

/** The commands of `sh` blocks in a text, with the statuses that they say. */
export function commandsOf(text: string): { command: string; status: number }[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(match => match[1]!);
  return blocks
    .join('')
    .split('\n')
    .filter(line => line.trim() !== '' && !line.startsWith('#'))
    .map(line => {
      const [, command = '', status = '0'] = /^(.*?)(?:\s+# status (\d+).*|\s+#.*)?$/.exec(line) ?? [];
      return { command, status: Number(status) };
    });
}

/** Those of its text that are run: the folder is there already. */
const commandsIn = (lab: Lab): { command: string; status: number }[] =>
  commandsOf(labText(lab, kernelFolder())).filter(
    ({ command }) => !command.startsWith('kcovbox lab start') && !command.startsWith('cd '),
  );

/** In the folder that `lab start` makes. */
function* runCommands(lab: Lab): Generator<Proof> {
  const folder = mkdtempSync(join(tmpdir(), 'kcovbox-lab-text-'));
  try {
    const work = join(folder, lab.name);
    startLab(lab, work);
    const kcovbox = `"${process.execPath}" "${join(packageRoot(), 'bin', 'kcovbox.cjs')}"`;
    for (const { command, status } of commandsIn(lab)) {
      const line = command.replace(/\bkcovbox (?=[a-z])/g, () => `${kcovbox} `);
      const ended = spawnSync('/bin/sh', ['-c', line], {
        cwd: work,
        timeout: COMMAND_MS,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const said = ended.stderr.toString().trim().split('\n').at(-1) ?? '';
      const fault =
        ended.status === status ? undefined : `status ${ended.status}, ${status} was expected: ${said}`;
      yield { what: `$ ${command}`, fault };
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
