// Installs missing tools, reports each step and its time, and does nothing if everything is
// installed. Runs on bare Node 20: imports nothing from npm. Progress goes to stderr; stdout
// belongs to the job itself.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

export const say = text => process.stderr.write(`kcovbox: ${text}\n`);

/** Ends the process with one line that says what to do. */
export function fail(text, status = 1) {
  say(text);
  process.exit(status);
}

/** Runs `work` and reports its wall time in seconds. */
function timed(what, work) {
  say(`${what} ...`);
  const start = Date.now();
  work();
  say(`${what}: done in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

function quiet(command, args, options = {}) {
  const run = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26, ...options });
  if (run.status === 0) return run.stdout;
  const tail = `${run.stdout ?? ''}${run.stderr ?? ''}${run.error?.message ?? ''}`
    .trimEnd()
    .split('\n')
    .slice(-15)
    .join('\n');
  if (tail) process.stderr.write(`${tail}\n`);
  return fail(
    `\`${command} ${args.join(' ')}\` failed${run.signal ? ` (${run.signal})` : ''}; its last lines are above`,
  );
}

const onPath = command =>
  (process.env.PATH ?? '').split(delimiter).some(dir => {
    try {
      accessSync(join(dir, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
const present = need => (need.startsWith('/') ? existsSync(need) : onPath(need));

/**
 * npm packages exactly as the lock file says; skipped while the lock file is the one last
 * installed.
 */
export function ensureNpm() {
  const hash = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  const stamp = join(ROOT, 'node_modules', '.kcovbox-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  timed('installing npm packages from the lock file', () => quiet('npm', ['ci', '--no-audit', '--no-fund']));
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
}

/**
 * The Debian packages of `rows` that are missing: by name, for the release at hand. A package that
 * cannot be installed ends the process; with `optional`, it is reported and skipped.
 */
export function ensurePackages(rows, purpose, { optional = false } = {}) {
  const giveUp = optional ? text => say(`${text} (going on without)`) : fail;
  const missing = rows.filter(row => (!row.archs || row.archs.includes(process.arch)) && !present(row.need));
  if (missing.length === 0) return;
  const fallback = missing.map(row => row.names.at(-1)).join(' ');
  const line = names => `apt-get install -y --no-install-recommends ${names}`;
  if (!onPath('apt-get'))
    return giveUp(
      `missing for ${purpose}: ${missing.map(row => row.need).join(', ')}; on Debian or Ubuntu run: sudo ${line(fallback)}`,
    );
  if (process.getuid?.() !== 0) return giveUp(`missing for ${purpose}; run: sudo ${line(fallback)}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  timed('reading the package lists', () => quiet('apt-get', ['update', '-q'], { env }));
  const known = name =>
    spawnSync('apt-cache', ['show', '--no-all-versions', name], { stdio: 'ignore' }).status === 0;
  const names = missing.map(row => row.names.find(known) ?? row.names.at(-1));
  timed(`installing ${names.join(' ')} (${purpose})`, () =>
    quiet('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...names], { env }),
  );
  const still = missing.filter(row => !present(row.need));
  if (still.length > 0)
    giveUp(`${still.map(row => row.need).join(', ')} still missing after the installation`);
}
