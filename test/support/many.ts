// Many command lines in one process: the bundle that bin/ loads, without a start of Node for each.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { kcovbox, ROOT } from './command.ts';

export interface Answered {
  readonly status: number;
  readonly stderr: string;
}

const SCRIPT = `
const { main } = require(${JSON.stringify(join(ROOT, 'dist', 'kcovbox.cjs'))});
const lines = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
process.stdout.setMaxListeners(0);
const answers = [];
(async () => {
  for (const line of lines) {
    let stderr = '';
    process.stderr.write = text => ((stderr += text), true);
    process.exitCode = undefined;
    const status = await main(['node', 'kcovbox', ...line]);
    answers.push({ status, stderr });
  }
  process.exitCode = 0;
  process.stdout.write(JSON.stringify(answers));
})();
`;

/** Runs command lines that write nothing to standard output, one after the other. */
export function runMany(lines: readonly (readonly string[])[], cwd: string): Answered[] {
  kcovbox(['--version'], { cwd }); // builds the bundle where a source is newer
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', SCRIPT], {
    cwd,
    encoding: 'utf8',
    input: JSON.stringify(lines),
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`the command lines ended with status ${status}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Answered[];
}
