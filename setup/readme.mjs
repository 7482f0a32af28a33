// The ```console blocks of all pages are real: each `$ command` line is run, and the text below it
// is compared with the command's output. `node setup/readme.mjs` checks, `--write` refreshes; names
// of pages may follow. An edit of the kernel makes a refresh necessary: line numbers, PCs and
// instruction counts are compared as they are, because they are the same on every machine. Measured
// times are not, and are not compared. The commands of a page share a folder that is deleted
// afterwards; it holds links to what a checkout has. Words behind `console`:
//
//   exit=N   the last command ends with this status, not 0
//   slow     the block takes minutes: it is run with --slow only
//
// Lines that begin with `(kcovbox) ` are the command's standard input, which the debugger repeats.
// `--list` prints the pages with such blocks, those with slow ones with `slow` behind the name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const WORDS = process.argv.slice(2);
const [WRITE, SLOW, LIST] = ['--write', '--slow', '--list'].map(option => WORDS.includes(option));
const NAMED = WORDS.filter(word => !word.startsWith('--'));
const BLOCK = /```console(.*)\n([\s\S]*?)```/g;
const textOf = page => readFileSync(join(ROOT, page), 'utf8');

/** README.md and the pages of docs/ that have such blocks. */
function allPages() {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md') && !name.includes('node_modules'))
    .map(name => `docs/${name.replaceAll('\\', '/')}`);
  return ['README.md', ...docs.sort()].filter(page => textOf(page).search(BLOCK) >= 0);
}

const LINKED = ['examples', 'guest-programs', 'kernel', 'docs'];
const KCOVBOX = `"${process.execPath}" "${join(ROOT, 'bin', 'kcovbox.cjs')}"`;
/** Seconds, microseconds, and rates such as 2,263/s. */
const withoutTimes = text => text.replace(/\b\d+\.\d+ (s|us)\b/g, 'N $1').replace(/\b\d[\d,]*\/s\b/g, 'N/s');

/** Output of a command line, with `npx kcovbox` standing for this checkout's. */
function outputOf({ line, input, status }, cwd) {
  const command = line.replaceAll('npx kcovbox', KCOVBOX);
  const run = spawnSync('sh', ['-c', command], {
    cwd,
    encoding: 'utf8',
    input,
    timeout: SLOW ? 3_000_000 : 300_000,
    maxBuffer: 1 << 26,
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (run.status !== status)
    throw new Error(`$ ${line}: status ${run.status}, expected ${status}: ${run.stderr}`);
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

/** A block's commands, each with its input, its status, and the text below it. */
function commandsOf(block, status) {
  const parts = block.split(/^\$ /m).slice(1);
  return parts.map((text, i) => {
    const end = text.indexOf('\n');
    const shown = text.slice(end + 1).trimEnd();
    const typed = [...shown.matchAll(/^\(kcovbox\) (.*)$/gm)].map(([, command]) => `${command}\n`);
    const isLast = i === parts.length - 1;
    return { line: text.slice(0, end), input: typed.join(''), status: isLast ? status : 0, shown };
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
  const fresh = textOf(page).replace(BLOCK, (whole, words, block) => {
    if (/\bslow\b/.test(words) && !SLOW) return whole;
    const parts = commandsOf(block, Number(/\bexit=(\d+)/.exec(words)?.[1] ?? 0)).map(command => {
      const { line, shown } = command;
      const output = outputOf(command, cwd);
      const isSame = withoutTimes(shown) === withoutTimes(output);
      if (!isSame) wrong.push(line);
      if (!isSame && !WRITE) report(page, line, shown, output);
      const now = isSame && !WRITE ? shown : output;
      return now === '' ? `$ ${line}\n` : `$ ${line}\n${now}\n`;
    });
    return `\`\`\`console${words}\n${parts.join('')}\`\`\``;
  });
  rmSync(cwd, { recursive: true, force: true });
  return { fresh, wrong };
}

function check(page) {
  const { fresh, wrong } = checkPage(page);
  if (WRITE) writeFileSync(join(ROOT, page), fresh);
  else if (wrong.length > 0) {
    console.error(
      `${page} shows other output than: ${wrong.join('; ')}\nRefresh it with: node setup/readme.mjs --write${SLOW ? ' --slow' : ''}`,
    );
    process.exitCode = 1;
  }
}

const hasSlow = page => [...textOf(page).matchAll(BLOCK)].some(([, words]) => /\bslow\b/.test(words));
if (LIST) for (const page of allPages()) console.log(hasSlow(page) ? `${page} slow` : page);
else
  try {
    for (const page of NAMED.length > 0 ? NAMED : allPages()) check(page);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
