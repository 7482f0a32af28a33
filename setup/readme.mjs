// The README's ```console blocks are real: this runs each `$ npx kcovbox …` line and compares what it prints with the text under it.
// `node setup/readme.mjs` checks, `--write` refreshes. Wall times differ from run to run; line numbers, PCs and instruction counts
// move with every edit of the kernel. All numbers are therefore compared as N: the check holds words, names and their order.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const README = join(ROOT, 'README.md');
const WRITE = process.argv.includes('--write');
const withoutNumbers = text =>
  text.replace(/\b(?:0x[0-9a-f]+|\d[\d,.]*(?:-\d+)?)(?: \d+(?:-\d+)?)*/g, 'N').replace(/ +/g, ' ');

/** Output of a command line, with `npx kcovbox` standing for this checkout's. */
function outputOf(line) {
  const command = line.replace('npx kcovbox', `"${process.execPath}" "${join(ROOT, 'bin', 'kcovbox.cjs')}"`);
  const run = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', input: '', timeout: 300_000 });
  if (run.status !== 0) throw new Error(`${line}: status ${run.status}: ${run.stderr}`);
  return run.stdout.trimEnd();
}

const text = readFileSync(README, 'utf8');
const wrong = [];
const fresh = text.replace(/```console\n\$ (.*)\n([\s\S]*?)```/g, (block, line, shown) => {
  const output = outputOf(line);
  if (!WRITE && withoutNumbers(shown.trimEnd()) === withoutNumbers(output)) return block;
  wrong.push(line);
  return `\`\`\`console\n$ ${line}\n${output}\n\`\`\``;
});
if (WRITE) writeFileSync(README, fresh);
else if (wrong.length > 0) {
  console.error(
    `README.md shows other output than: ${wrong.join('; ')}\nRefresh it with: node setup/readme.mjs --write`,
  );
  process.exit(1);
}
