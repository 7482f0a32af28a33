// Fetches programs of a real distribution that serve as test guests: Debian's static riscv64 busybox and, when asked with
// --linux, its kernel (112 MB to download; DIRECTORY/linux/Image and the virtio modules beside it).
// Usage: node setup/fetch-guests.mjs [--linux] [DIRECTORY]
// Exit status 0: DIRECTORY/bin/busybox exists. 77: this machine can not fetch it, and the reason is printed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { aptRoot, cannot, dependency, run, unpack } from './apt.mjs';

const PACKAGE = 'busybox-static';

const KERNEL = 'linux-image-riscv64';
const MODULES = ['virtio_mmio', 'virtio_blk', 'virtio-rng'];

const args = process.argv.slice(2);
const wantsLinux = args.includes('--linux');
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

const needs = [['bin/busybox', fetchBusybox], ...(wantsLinux ? [['linux/Image', fetchLinux]] : [])].filter(
  ([file]) => !existsSync(join(target, file)),
);
if (needs.length > 0) {
  const root = aptRoot(target);
  for (const [, fetch] of needs) fetch(root);
}
process.stdout.write(`${join(target, wantsLinux ? 'linux/Image' : 'bin/busybox')}\n`);
