// Fetches programs of a real distribution that serve as test guests: Debian's static riscv64 busybox. Uses apt by package
// name with a private root, so nothing of the machine's own package state changes; the mirror is the one that the
// machine's apt already uses, with the suite replaced. Usage: node setup/fetch-guests.mjs [DIRECTORY]
// Exit status 0: DIRECTORY/bin/busybox exists. 77: this machine can not fetch it, and the reason is printed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SUITE = 'trixie';
const ARCH = 'riscv64';
const PACKAGE = 'busybox-static';
const CANNOT = 77;

const target = resolve(process.argv[2] ?? '.cache/guests');

function cannot(reason) {
  process.stderr.write(`fetch-guests: ${reason}\n`);
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

/** apt options that keep everything below root. */
function privateOptions(root) {
  return [
    `Dir::Etc::sourcelist=${root}/sources.list`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${root}/lists`,
    `Dir::State::status=${root}/status`,
    `Dir::Cache=${root}/cache`,
    `APT::Architecture=${ARCH}`,
    `APT::Architectures=${ARCH}`,
    'APT::Sandbox::User=root',
  ].flatMap(option => ['-o', option]);
}

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (done.error || done.status !== 0) {
    const last = (done.stderr ?? '').trim().split('\n').pop();
    cannot(`${command} ${args[args.length - 1]} failed: ${done.error?.message ?? last}`);
  }
}

function fetch() {
  const source = machineSource();
  if (!source || !existsSync(source.key))
    cannot('needs a Debian machine with apt sources and its archive keyring');
  const root = join(target, 'apt');
  for (const sub of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(root, sub), { recursive: true });
  writeFileSync(join(root, 'status'), '');
  writeFileSync(
    join(root, 'sources.list'),
    `deb [arch=${ARCH} signed-by=${source.key}] ${source.uri} ${SUITE} main\n`,
  );
  run('apt-get', [...privateOptions(root), '-qq', 'update'], root);
  run('apt-get', [...privateOptions(root), '-qq', 'download', PACKAGE], root);
  const deb = readdirSync(root).find(name => name.startsWith(`${PACKAGE}_`) && name.endsWith('.deb'));
  if (!deb) cannot(`apt-get brought no ${PACKAGE} package`);
  run('dpkg', ['-x', deb, join(root, 'unpacked')], root);
  mkdirSync(join(target, 'bin'), { recursive: true });
  const found = ['bin/busybox', 'usr/bin/busybox']
    .map(p => join(root, 'unpacked', p))
    .find(p => existsSync(p));
  if (!found) cannot(`${deb} holds no busybox`);
  writeFileSync(join(target, 'bin/busybox'), readFileSync(found), { mode: 0o755 });
}

if (!existsSync(join(target, 'bin/busybox'))) fetch();
process.stdout.write(`${join(target, 'bin/busybox')}\n`);
