// The README's ```console blocks are real: this runs each `$ npx kcovbox …` line and compares what it prints with the text under it.
// `node setup/readme.mjs` checks, `--write` refreshes, which an edit of the kernel makes necessary: line numbers, PCs and instruction counts are
// compared as they are, because they are the same on every machine. Only wall times are not.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const README = join(ROOT, 'README.md');
const WRITE = process.argv.includes('--write');
const withoutTimes = text => text.replace(/\b\d+\.\d+ s\b/g, 'N s');

/** Output of a command line, with `npx kcovbox` standing for this checkout's. */
function outputOf(line) {
  const command = line.replace('npx kcovbox', `"${process.execPath}" "${join(ROOT, 'bin', 'kcovbox.cjs')}"`);
  const run = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', input: '', timeout: 300_000 });
  if (run.status !== 0) throw new Error(`${line}: status ${run.status}: ${run.stderr}`);
  return run.stdout.trimEnd();
}

/** The first line that differs. */
function report(line, shown, output) {
  const [a, b] = [shown.split('\n'), output.split('\n')];
  const at = a.findIndex((text, i) => withoutTimes(text) !== withoutTimes(b[i] ?? ''));
  console.error(
    `$ ${line}\n  README: ${a[at] ?? '(nothing more)'}\n  now:    ${b[at < 0 ? a.length : at] ?? '(nothing more)'}`,
  );
}

const text = readFileSync(README, 'utf8');
const wrong = [];
const fresh = text.replace(/```console\n\$ (.*)\n([\s\S]*?)```/g, (block, line, shown) => {
  const output = outputOf(line);
  if (!WRITE && withoutTimes(shown.trimEnd()) === withoutTimes(output)) return block;
  wrong.push(line);
  if (!WRITE) report(line, shown.trimEnd(), output);
  return `\`\`\`console\n$ ${line}\n${output}\n\`\`\``;
});
if (WRITE) writeFileSync(README, fresh);
else if (wrong.length > 0) {
  console.error(
    `README.md shows other output than: ${wrong.join('; ')}\nRefresh it with: node setup/readme.mjs --write`,
  );
  process.exit(1);
}
