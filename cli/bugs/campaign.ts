// The programs of a fuzzer's campaign on its own kernel, from its snapshot. The bugs are switched
// in the guest's memory, so one boot serves all programs.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { crashOf, type Program, parseProgram } from '../../fuzz/index.ts';
import { readInput } from '../../host/input.ts';
import { workerData } from '../fuzz/campaign.ts';
import { BUGS, readFolder } from '../fuzz/folder.ts';
import { executorFor } from '../fuzz/worker.ts';
import { UserError } from '../io/fail.ts';
import type { Runs, Shown } from './score.ts';

const PROGRAM_MAX = 1 << 20;

/** An execution: what went wrong, and what the calls returned. */
export interface Ran extends Shown {
  readonly title: string | undefined;
  readonly values: string;
}

/** Programs that triggered bugs and crashed first: they show most. */
function programsOf(path: string): string[] {
  const below = (folder: string, pattern: RegExp): string[] => {
    try {
      const names = readdirSync(join(path, folder), { recursive: true, encoding: 'utf8' });
      return names.filter(name => pattern.test(name)).map(name => join(path, folder, name));
    } catch {
      return []; // the campaign has none
    }
  };
  const finds = /[/\\]program\.txt$/;
  return [...below(BUGS, finds), ...below('crashes', finds), ...below('corpus', /\.txt$/)].sort();
}

/** Errors: UserError when the kernel of the campaign has no bugs. */
export async function campaignRuns(path: string): Promise<{ programs: string[]; runs: Runs<Ran> }> {
  const stored = readFolder(path);
  const { canaries, config } = stored.manifest;
  if (!canaries)
    throw new UserError(`${path}: the kernel of this campaign has no bugs; begin one with --conf NAME+bugs`);
  const executor = await executorFor(workerData(stored, 'jit'));
  const read = new Map<string, Program>();
  const programOf = (file: string): Program => {
    const text = new TextDecoder().decode(readInput(file, 'program', PROGRAM_MAX));
    const program = read.get(file) ?? parseProgram(text, stored.descriptions, file);
    read.set(file, program);
    return program;
  };
  const runs: Runs<Ran> = {
    async with(file, bugs) {
      const program = programOf(file);
      executor.enableBugs(new Set(bugs));
      const execution = executor.execute(program, 'pc', config.settles);
      const values = execution.calls.map(({ value }) => String(value)).join();
      return { ...execution.bugs!, title: crashOf(program, execution), values };
    },
    isWorse: (alone, without) => alone.title !== without.title || alone.values !== without.values,
  };
  return { programs: programsOf(path), runs };
}
