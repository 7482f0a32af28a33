// `npm start`: installs missing tools, then boots the kernel and shows the lines that one read(2)
// covered.
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
