// `npm run check`: everything a commit must pass, in under a minute: format and lint, types, C format, unit tests.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureNpm, ROOT } from './ensure.mjs';

ensureNpm();
const bin = name => join(ROOT, 'node_modules', '.bin', name);
const steps = [
  ['format and lint', bin('biome'), ['check', '.']],
  ['types', bin('tsc'), ['--noEmit', '-p', '.']],
  ['C format', process.execPath, [join(ROOT, 'setup', 'format-c.mjs')]],
  ['unit tests', bin('vitest'), ['run', '--project', 'unit', '--reporter=dot']],
];
let failed = 0;
for (const [name, command, args] of steps) {
  const start = Date.now();
  const run = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (run.status !== 0) failed++;
  console.log(
    `${run.status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`,
  );
}
process.exit(failed === 0 ? 0 : 1);
