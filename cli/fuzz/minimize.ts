// `kcovbox fuzz minimize`: a small corpus that covers what the whole one of a campaign covers.
import { counted, type EngineKind } from '../../emulator/index.ts';
import { smallCover } from '../../fuzz/index.ts';
import { UserError } from '../io/fail.ts';
import { checkFolder, fillFolder, writeFiles, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { isWithin } from '../io/within.ts';
import { coveredWhat, poolOf } from './campaign.ts';
import { entryName, readFolder } from './folder.ts';

export interface MinimizeOptions {
  output: string;
  jobs?: number;
  engine: Exclude<EngineKind, 'lockstep'>;
}

/**
 * Writes the programs under the names that they have in the campaign's corpus. Errors: UserError
 * without a corpus; HostError where it does not cover what the journal says.
 */
export async function minimizeCorpus(path: string, options: MinimizeOptions): Promise<number> {
  const stored = readFolder(path);
  const texts = stored.epochs.flatMap(({ entries }) => entries.map(({ text }) => text));
  if (texts.length === 0) throw new UserError(`fuzz minimize ${path}: the campaign has no programs yet`);
  // A folder that cannot be is refused before the programs are executed.
  checkFolder(options.output, 'fuzz minimize');
  if (isWithin(options.output, path))
    throw new UserError(
      `fuzz minimize: ${options.output} is in the campaign ${path}; give another folder with -o`,
    );
  const line = progressLine();
  const pool = poolOf(stored, options.engine, options.jobs);
  try {
    line.show(`executing ${counted(texts.length, 'program')}`);
    const elements = await pool.recall(stored.epochs);
    const chosen = smallCover(
      elements,
      texts.map(({ length }) => length),
    );
    line.clear();
    const files = new Map(chosen.map(index => [entryName(index), texts[index]!]));
    fillFolder(options.output, 'fuzz minimize', () => writeFiles(options.output, files));
    const covered = `${pool.state.covered.size} ${coveredWhat(stored)}`;
    writeTo('-', `kept ${chosen.length} of ${counted(texts.length, 'program')}: the same ${covered}\n`);
  } finally {
    line.clear();
    await pool.close();
  }
  return 0;
}
