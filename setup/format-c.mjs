// Checks (or with --write fixes) the format of the C sources against .clang-format.
import { execFileSync, spawnSync } from 'node:child_process';
import { fail, ROOT } from './ensure.mjs';

const files = execFileSync(
  'git',
  [
    'ls-files',
    ...['kernel', 'guest-programs', 'examples', 'bench', 'bugs'].flatMap(d => [`${d}/*.c`, `${d}/*.h`]),
  ],
  { cwd: ROOT, encoding: 'utf8' },
)
  .split('\n')
  .filter(Boolean);
const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '-Werror'];
if (files.length > 0) {
  const run = spawnSync('clang-format-19', [...mode, ...files], { cwd: ROOT, stdio: 'inherit' });
  if (run.error)
    fail('C format not checked: clang-format-19 is not installed (apt-get install clang-format-19)');
  process.exit(run.status ?? 1);
}
