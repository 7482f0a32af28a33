// The path of a newcomer, measured: a device and its driver in a folder outside of the checkout
// run, are tested, swept with faults, edited, and run again. Begins without a kernel in the cache.
// Prints the processor time of each step, children included, and the time on the clock.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const folder = mkdtempSync(join(tmpdir(), 'kcovbox-newcomer-'));
const own = ['--device', 'summer.ts', '--driver', 'summer.c'];
const program = ['use.c', '--', '1', '2', '39'];
const KCOVBOX = [process.execPath, join(ROOT, 'bin', 'kcovbox.cjs')];

/** Seconds of the processor and of the clock; throws when the command fails or prints otherwise. */
function step(words, wanted) {
  const started = process.hrtime.bigint();
  const run = spawnSync('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'step', ...KCOVBOX, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, KCOVBOX_CACHE: join(folder, 'cache') },
  });
  const clock = Number(process.hrtime.bigint() - started) / 1e9;
  if (run.status !== 0 || !run.stdout.includes(wanted))
    throw new Error(`kcovbox ${words.join(' ')}: status ${run.status}: ${run.stdout}${run.stderr}`);
  const [user, system] = run.stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return { cpu: user + system, clock };
}

function edit(name, from, to) {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
  writeFileSync(path, text.replace(from, to));
}

try {
  cpSync(join(ROOT, 'examples', 'device'), folder, { recursive: true });
  const rows = [
    ['first run; the kernel is built', step(['run', ...own, ...program], '42')],
    ['test inside the kernel', step(['ktest', ...own, 'summer.*'], '# 0 of 1 failed')],
    ['sweep of all faults', step(['faults', 'sweep', ...own, ...program], ' runs: ')],
  ];
  edit('summer.c', 'return -ENOMEM;', 'return -ENOSPC;');
  rows.push(['run after an edit of the driver', step(['run', ...own, ...program], '42')]);
  edit('summer.ts', '2_000', '3_000');
  rows.push(['run after an edit of the device', step(['run', ...own, ...program], '42')]);
  console.log('| step | CPU s | s |\n| --- | ---: | ---: |');
  for (const [what, { cpu, clock }] of rows)
    console.log(`| ${what} | ${cpu.toFixed(1)} | ${clock.toFixed(1)} |`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
