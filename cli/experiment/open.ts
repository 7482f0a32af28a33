// The argument of the commands: the file of an experiment, or its folder.
import { existsSync, statSync } from 'node:fs';
import { TRIALS_FEW } from '../../experiment/schema.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { pathWord } from '../io/shell-word.ts';
import { Folder, folderFor } from './folder.ts';
import { preparePlan } from './prepare.ts';
import { readExperiment } from './read.ts';

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * The folder of an experiment, which is made where it is not there. Errors: UserError; those of
 * compilers.
 */
export async function openExperiment(path: string, dir: string | undefined): Promise<Folder> {
  if (isFolder(path)) {
    if (dir !== undefined) throw new UserError(`--dir ${dir}: ${path} is a folder already; omit one of them`);
    return Folder.open(path);
  }
  const read = readExperiment(path);
  const prepared = await preparePlan(read);
  const folder = Folder.create(dir ?? folderFor(path), prepared, read.text);
  warnIfFew(folder);
  return folder;
}

/** The folder, for commands that only look at results. */
export function openResults(path: string, dir: string | undefined): Folder {
  if (isFolder(path) && dir === undefined) return Folder.open(path);
  const folder = dir ?? folderFor(path);
  if (!existsSync(folder))
    throw new UserError(
      `${folder}: no such folder; ` +
        `kcovbox experiment run ${pathWord(path)} makes it, or name another with --dir`,
    );
  return Folder.open(folder);
}

function warnIfFew({ plan }: Folder): void {
  const trials = plan.trials.length / plan.variants.length;
  if (trials < TRIALS_FEW)
    tell(
      `kcovbox: warning: ${trials} trial${trials === 1 ? '' : 's'} of each variant: with fewer than ` +
        `${TRIALS_FEW} a difference can rarely be told from chance; 20 are usual\n`,
    );
  if (plan.budget['cpu-seconds'] !== undefined)
    tell(
      'kcovbox: warning: a budget of CPU time gives other results on each machine; verify will refuse them\n',
    );
}
