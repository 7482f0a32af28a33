// The README's ```console blocks are real: this runs each `$ npx kcovbox …` line and compares what it prints with the text under it.
// `node setup/readme.mjs` checks, `--write` refreshes. Wall times differ from run to run and are compared as "N s".
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const README = join(ROOT, 'README.md');
const withoutTimes = text => text.replace(/\b\d+\.\d+ s\b/g, 'N s');

/** Output of a command line, with `npx kcovbox` standing for this checkout's. */
function outputOf(line) {
  const command = line.replace('npx kcovbox', `"${process.execPath}" "${join(ROOT, 'bin', 'kcovbox.mjs')}"`);
  const run = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', input: '', timeout: 300_000 });
  if (run.status !== 0) throw new Error(`${line}: status ${run.status}: ${run.stderr}`);
  return run.stdout.trimEnd();
}

const text = readFileSync(README, 'utf8');
const wrong = [];
const fresh = text.replace(/```console\n\$ (.*)\n([\s\S]*?)```/g, (block, line, shown) => {
  const output = outputOf(line);
  if (withoutTimes(shown.trimEnd()) === withoutTimes(output)) return block;
  wrong.push(line);
  return `\`\`\`console\n$ ${line}\n${output}\n\`\`\``;
});
if (process.argv.includes('--write')) writeFileSync(README, fresh);
else if (wrong.length > 0) {
  console.error(
    `README.md shows other output than: ${wrong.join('; ')}\nRefresh it with: node setup/readme.mjs --write`,
  );
  process.exit(1);
}
