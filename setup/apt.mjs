// Packages of a Debian release other than this machine's, by name and with verified signatures: apt
// with a private root, so that nothing of the machine's own package state changes. The mirror is
// the one that the machine's apt already uses, with the suite replaced.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const SUITE = 'trixie';
/** Debian's name of the guest's architecture. */
const GUEST = 'riscv64';
/** Exit status that says: this machine can not do it. */
const CANNOT = 77;

export function cannot(reason) {
  process.stderr.write(`${basename(process.argv[1], '.mjs')}: ${reason}\n`);
  process.exit(CANNOT);
}

/** The first source of the machine's own apt: address and signing key. */
function machineSource() {
  const dir = '/etc/apt/sources.list.d';
  const names = existsSync(dir) ? readdirSync(dir).sort() : [];
  for (const name of names.filter(n => n.endsWith('.sources'))) {
    const text = readFileSync(join(dir, name), 'utf8');
    const field = key => text.match(new RegExp(`^${key}:\\s*(\\S+)`, 'm'))?.[1];
    if (field('URIs') && /debian-archive/.test(field('Signed-By') ?? '')) {
      return { uri: field('URIs'), key: field('Signed-By') };
    }
  }
  const lists = ['/etc/apt/sources.list', ...names.filter(n => n.endsWith('.list')).map(n => join(dir, n))];
  for (const path of lists.filter(p => existsSync(p))) {
    const line = readFileSync(path, 'utf8').match(/^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+\S+\s+.*\bmain\b/m);
    if (line) return { uri: line[1], key: '/usr/share/keyrings/debian-archive-keyring.gpg' };
  }
  return undefined;
}

/**
 * apt options that keep everything below root; its file `arch` names the architecture of the
 * packages.
 */
function privateOptions(root) {
  const arch = readFileSync(join(root, 'arch'), 'utf8');
  return [
    `Dir::Etc::sourcelist=${root}/sources.list`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${root}/lists`,
    `Dir::State::status=${root}/status`,
    `Dir::Cache=${root}/cache`,
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    'APT::Sandbox::User=root',
  ].flatMap(option => ['-o', option]);
}

/** Standard output of a command; the end of this program when it fails. */
export function run(command, args, cwd, timeout = 300_000) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', timeout, maxBuffer: 1 << 28 });
  if (done.error || done.status !== 0) {
    const last = (done.stderr ?? '').trim().split('\n').pop();
    cannot(`${command} ${args[args.length - 1]} failed: ${done.error?.message ?? last}`);
  }
  return done.stdout;
}

/**
 * A private apt root below `target` whose package lists, of an architecture by Debian's name, are
 * fresh.
 */
export function aptRoot(target, arch = GUEST) {
  const source = machineSource();
  if (!source || !existsSync(source.key))
    cannot('needs a Debian machine with apt sources and its archive keyring');
  const root = join(target, 'apt');
  for (const sub of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(root, sub), { recursive: true });
  writeFileSync(join(root, 'status'), '');
  writeFileSync(join(root, 'arch'), arch);
  writeFileSync(
    join(root, 'sources.list'),
    `deb [arch=${arch} signed-by=${source.key}] ${source.uri} ${SUITE} main\n`,
  );
  run('apt-get', [...privateOptions(root), '-qq', 'update'], root);
  return root;
}

/** Downloads a package and unpacks it; returns where. */
export function unpack(root, name) {
  run('apt-get', [...privateOptions(root), '-qq', 'download', name], root, 900_000);
  const deb = readdirSync(root).find(file => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (!deb) cannot(`apt-get brought no ${name} package`);
  const place = join(root, 'unpacked', name);
  mkdirSync(place, { recursive: true });
  run('dpkg', ['-x', deb, place], root);
  return place;
}

/**
 * Downloads packages with everything that they need, down to the C library, and unpacks all into
 * one tree below `tree`.
 */
export function unpackWithLibraries(root, names, tree) {
  const archives = join(root, 'cache/archives');
  const install = ['-qq', '-y', '--no-install-recommends', '--download-only', 'install', ...names];
  run('apt-get', [...privateOptions(root), ...install], root, 900_000);
  for (const deb of readdirSync(archives).filter(file => file.endsWith('.deb')))
    run('dpkg', ['-x', join(archives, deb), tree], root);
}

/** A dependency of a meta package: the first name that matches. */
export function dependency(root, name, pattern) {
  const depends = run('apt-cache', [...privateOptions(root), 'depends', name], root);
  const found = depends.match(pattern)?.[1];
  if (!found) cannot(`${name} depends on nothing like ${pattern}`);
  return found;
}
