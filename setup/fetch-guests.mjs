// Fetches programs of a real distribution that serve as test guests: Debian's static riscv64 busybox and, when asked with
// --linux, its kernel (112 MB to download; DIRECTORY/linux/Image and the virtio modules beside it). Uses apt by package
// name with a private root, so nothing of the machine's own package state changes; the mirror is the one that the
// machine's apt already uses, with the suite replaced. Usage: node setup/fetch-guests.mjs [--linux] [DIRECTORY]
// Exit status 0: DIRECTORY/bin/busybox exists. 77: this machine can not fetch it, and the reason is printed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SUITE = 'trixie';
const ARCH = 'riscv64';
const PACKAGE = 'busybox-static';
const CANNOT = 77;

const KERNEL = 'linux-image-riscv64';
const MODULES = ['virtio_mmio', 'virtio_blk', 'virtio-rng'];

const args = process.argv.slice(2);
const wantsLinux = args.includes('--linux');
const target = resolve(args.find(a => !a.startsWith('-')) ?? '.cache/guests');

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
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000, maxBuffer: 1 << 28 });
  if (done.error || done.status !== 0) {
    const last = (done.stderr ?? '').trim().split('\n').pop();
    cannot(`${command} ${args[args.length - 1]} failed: ${done.error?.message ?? last}`);
  }
  return done.stdout;
}

/** A private apt root whose package lists are fresh. */
function aptRoot() {
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
  return root;
}

/** Downloads a package and unpacks it; returns where. */
function unpack(root, name) {
  run('apt-get', [...privateOptions(root), '-qq', 'download', name], root);
  const deb = readdirSync(root).find(file => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (!deb) cannot(`apt-get brought no ${name} package`);
  const place = join(root, 'unpacked', name);
  mkdirSync(place, { recursive: true });
  run('dpkg', ['-x', deb, place], root);
  return place;
}

function fetchBusybox(root) {
  const place = unpack(root, PACKAGE);
  mkdirSync(join(target, 'bin'), { recursive: true });
  const found = ['bin/busybox', 'usr/bin/busybox'].map(p => join(place, p)).find(p => existsSync(p));
  if (!found) cannot(`${PACKAGE} holds no busybox`);
  writeFileSync(join(target, 'bin/busybox'), readFileSync(found), { mode: 0o755 });
}

/** The kernel package of the moment is what the meta package depends on. */
function fetchLinux(root) {
  const depends = run('apt-cache', [...privateOptions(root), 'depends', KERNEL], root);
  const name = depends.match(/Depends: (linux-image-\S+)/)?.[1];
  if (!name) cannot(`${KERNEL} depends on no kernel`);
  const place = unpack(root, name);
  const boot = join(place, 'boot');
  const image = readdirSync(boot).find(file => /^vmlinu[xz]-/.test(file));
  if (!image) cannot(`${name} holds no kernel image`);
  mkdirSync(join(target, 'linux'), { recursive: true });
  const files = run('find', [place, '-name', '*.ko.xz'], root).split('\n');
  for (const module of MODULES) {
    const path = files.find(file => file.endsWith(`/${module}.ko.xz`));
    if (!path) cannot(`${name} holds no module ${module}`);
    const done = spawnSync('xz', ['-dc', path], { maxBuffer: 1 << 28 });
    if (done.status !== 0) cannot(`xz could not unpack ${module}.ko.xz`);
    writeFileSync(join(target, 'linux', `${module}.ko`), done.stdout);
  }
  writeFileSync(join(target, 'linux/Image'), readFileSync(join(boot, image)));
  rmSync(place, { recursive: true });
}

const needs = [['bin/busybox', fetchBusybox], ...(wantsLinux ? [['linux/Image', fetchLinux]] : [])].filter(
  ([file]) => !existsSync(join(target, file)),
);
if (needs.length > 0) {
  const root = aptRoot();
  for (const [, fetch] of needs) fetch(root);
}
process.stdout.write(`${join(target, wantsLinux ? 'linux/Image' : 'bin/busybox')}\n`);
