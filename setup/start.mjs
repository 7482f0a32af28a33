// `npm start`: set up what is missing, then run the main job: boot the kernel and show what one read(2) covered.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bundle, isFresh } from './bundle.mjs';
import { ensureNpm, ensurePackages, ROOT } from './ensure.mjs';
import { BUILD } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');
if (!isFresh()) await bundle();
const run = spawnSync(
  process.execPath,
  [join(ROOT, 'bin', 'kcovbox.cjs'), 'demo', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 125);
