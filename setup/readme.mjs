// The ```console blocks of README.md, docs/tutorials/ and docs/pairs/ are real: each `$ command`
// line is run, and the text below it is compared with the command's output. `node
// setup/readme.mjs` checks, `--write` refreshes; names of pages may follow. An edit of the kernel
// makes a refresh necessary: line numbers, PCs and instruction counts are compared as they are,
// because they are the same on every machine. Wall times are not, and are not compared. The
// commands of a page share a folder that is deleted afterwards; it holds links to what a checkout
// has.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const WRITE = process.argv.includes('--write');
const NAMED = process.argv.slice(2).filter(word => word !== '--write');
const TUTORIALS = ['docs/tutorials', 'docs/pairs'].flatMap(folder =>
  readdirSync(join(ROOT, folder)).map(name => `${folder}/${name}`),
);
const PAGES = NAMED.length > 0 ? NAMED : ['README.md', ...TUTORIALS];
const LINKED = ['examples', 'guest-programs', 'kernel', 'docs'];
const KCOVBOX = `"${process.execPath}" "${join(ROOT, 'bin', 'kcovbox.cjs')}"`;
const withoutTimes = text => text.replace(/\b\d+\.\d+ s\b/g, 'N s');

/** Output of a command line, with `npx kcovbox` standing for this checkout's. */
function outputOf(line, cwd) {
  const command = line.replaceAll('npx kcovbox', KCOVBOX);
  const run = spawnSync('sh', ['-c', command], {
    cwd,
    encoding: 'utf8',
    input: '',
    timeout: 300_000,
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (run.status !== 0) throw new Error(`${line}: status ${run.status}: ${run.stderr}`);
  return run.stdout.trimEnd();
}

/** The first line that differs. */
function report(page, line, shown, output) {
  const [a, b] = [shown.split('\n'), output.split('\n')];
  const at = a.findIndex((text, i) => withoutTimes(text) !== withoutTimes(b[i] ?? ''));
  console.error(
    `${page}: $ ${line}\n  page: ${a[at] ?? '(nothing more)'}\n  now:  ${b[at < 0 ? a.length : at] ?? '(nothing more)'}`,
  );
}

/** A block's commands, each with the text below it. */
function commandsOf(block) {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map(text => {
      const end = text.indexOf('\n');
      return { line: text.slice(0, end), shown: text.slice(end + 1).trimEnd() };
    });
}

/**
 * Runs a page's commands in order; answers with the text as it should be, and the commands whose
 * output differs.
 */
function checkPage(page) {
  const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-page-'));
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(cwd, name));
  const wrong = [];
  const text = readFileSync(join(ROOT, page), 'utf8');
  const fresh = text.replace(/```console\n([\s\S]*?)```/g, (_, block) => {
    const parts = commandsOf(block).map(({ line, shown }) => {
      const output = outputOf(line, cwd);
      const isSame = withoutTimes(shown) === withoutTimes(output);
      if (!isSame) wrong.push(line);
      if (!isSame && !WRITE) report(page, line, shown, output);
      const now = isSame && !WRITE ? shown : output;
      return now === '' ? `$ ${line}\n` : `$ ${line}\n${now}\n`;
    });
    return `\`\`\`console\n${parts.join('')}\`\`\``;
  });
  rmSync(cwd, { recursive: true, force: true });
  return { fresh, wrong };
}

for (const page of PAGES) {
  const { fresh, wrong } = checkPage(page);
  if (WRITE) writeFileSync(join(ROOT, page), fresh);
  else if (wrong.length > 0) {
    console.error(
      `${page} shows other output than: ${wrong.join('; ')}\nRefresh it with: node setup/readme.mjs --write`,
    );
    process.exitCode = 1;
  }
}
