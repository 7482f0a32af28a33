// Fetches programs of a real distribution that serve as test guests: Debian's static riscv64
// busybox and, when asked with --linux, its kernel (112 MB to download; DIRECTORY/linux/Image and
// the virtio modules beside it), with --programs a file tree of dynamic programs in C, Go, Rust,
// Perl and Python (30 MB to download; DIRECTORY/programs). Usage: node setup/fetch-guests.mjs
// [--linux | --programs] [DIRECTORY] Exit status 0: what was asked for exists, and standard output
// names it. 77: this machine can not fetch it, and the reason is printed.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { aptRoot, cannot, dependency, run, unpack } from './apt.mjs';

const PACKAGE = 'busybox-static';

const KERNEL = 'linux-image-riscv64';
const MODULES = ['virtio_mmio', 'virtio_blk', 'virtio-rng'];

/** The programs, and the libraries that they need. */
const PROGRAMS = [
  ...['bash', 'coreutils', 'diffutils', 'findutils', 'grep', 'sed', 'perl-base', 'sqlite3'],
  ...['gron', 'fzf', 'ripgrep', 'fd-find'],
  ...['python3.13-minimal', 'libpython3.13-minimal', 'libpython3.13-stdlib'],
  ...[
    'libc6',
    'libgcc-s1',
    'libtinfo6',
    'libselinux1',
    'libpcre2-8-0',
    'libacl1',
    'libattr1',
    'libcap2',
    'libgmp10',
  ],
  ...['libcrypt1', 'libexpat1', 'zlib1g', 'libsqlite3-0', 'libreadline8t64', 'libssl3t64', 'libzstd1'],
];
const UNUSED = /\/(share|include|ensurepip|idlelib|pydoc_data|turtledemo|tkinter|engines-3|ossl-modules)$/;

const args = process.argv.slice(2);
const wantsLinux = args.includes('--linux');
const wantsPrograms = args.includes('--programs');
const target = resolve(args.find(a => !a.startsWith('-')) ?? '.cache/guests');

function fetchBusybox(root) {
  const place = unpack(root, PACKAGE);
  mkdirSync(join(target, 'bin'), { recursive: true });
  const found = ['bin/busybox', 'usr/bin/busybox'].map(p => join(place, p)).find(p => existsSync(p));
  if (!found) cannot(`${PACKAGE} holds no busybox`);
  writeFileSync(join(target, 'bin/busybox'), readFileSync(found), { mode: 0o755 });
}

/** The kernel package of the moment is what the meta package depends on. */
function fetchLinux(root) {
  const name = dependency(root, KERNEL, /Depends: (linux-image-\S+)/);
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

/** One tree of them all, complete or not there. */
function fetchPrograms(root) {
  const tree = join(target, 'programs.new');
  rmSync(tree, { recursive: true, force: true });
  for (const dir of ['bin', 'lib', 'sbin']) {
    mkdirSync(join(tree, 'usr', dir), { recursive: true });
    symlinkSync(`usr/${dir}`, join(tree, dir));
  }
  for (const name of PROGRAMS) {
    const place = unpack(root, name);
    const filter = path => !UNUSED.test(path);
    cpSync(join(place, 'usr'), join(tree, 'usr'), { recursive: true, verbatimSymlinks: true, filter });
    rmSync(place, { recursive: true });
  }
  rmSync(join(target, 'programs'), { recursive: true, force: true });
  renameSync(tree, join(target, 'programs'));
}

const wanted = wantsLinux ? 'linux/Image' : wantsPrograms ? 'programs' : 'bin/busybox';
const needs = [
  ['bin/busybox', fetchBusybox],
  ['linux/Image', fetchLinux],
  ['programs', fetchPrograms],
].filter(([file]) => (file === wanted || file === 'bin/busybox') && !existsSync(join(target, file)));
if (needs.length > 0) {
  const root = aptRoot(target);
  for (const [, fetch] of needs) fetch(root);
}
process.stdout.write(`${join(target, wanted)}\n`);
