// Builds a real Linux kernel with kcov for riscv64: the source is Debian's package of it
// (linux-source, found by apt by name, 150 MB to download), the configuration is linux-kcov.config
// over tinyconfig, the compiler is the one of the guest kernel. Takes a few minutes once;
// DIRECTORY/linux-kcov/Image is kept until the configuration changes. Usage: node
// setup/build-linux-kcov.mjs [--cached] [DIRECTORY]      --cached: do not build, only say whether
// it is there Exit status 0: the path of the kernel is printed. 77: it can not be had, and the
// reason is printed.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptRoot, cannot, dependency, run, unpack } from './apt.mjs';

const META = 'linux-source';
const TOOLS = ['make', 'clang-19', 'ld.lld-19', 'llvm-objcopy-19', 'flex', 'bison', 'bc', 'xz'];
const MAKE = ['ARCH=riscv', 'LLVM=-19', 'KBUILD_BUILD_USER=kcovbox', 'KBUILD_BUILD_HOST=kcovbox'];
const CONFIG = fileURLToPath(new URL('linux-kcov.config', import.meta.url));
const HOUR = 3_600_000;

const args = process.argv.slice(2);
const target = resolve(args.find(a => !a.startsWith('-')) ?? '.cache/guests');
const out = join(target, 'linux-kcov');
const image = join(out, 'Image');
const stamp = join(out, 'stamp');
const key = createHash('sha256').update(readFileSync(CONFIG)).digest('hex');

/** The unpacked source tree; the archive is not kept. */
function source() {
  const root = aptRoot(target);
  const name = dependency(root, META, /Depends: (linux-source-\S+)/);
  const place = unpack(root, name);
  const partial = join(out, 'partial');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  run('tar', ['-C', partial, '-xf', join(place, 'usr/src', `${name}.tar.xz`)], root, HOUR);
  rmSync(place, { recursive: true });
  renameSync(join(partial, name), join(out, name));
  return join(out, name);
}

/** tinyconfig, then our lines; olddefconfig drops what this release does not know. */
function configure(tree) {
  run('make', [...MAKE, 'tinyconfig'], tree);
  const file = join(tree, '.config');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${readFileSync(CONFIG, 'utf8')}`);
  run('make', [...MAKE, 'olddefconfig'], tree);
  const got = readFileSync(file, 'utf8');
  for (const line of ['CONFIG_KCOV=y', 'CONFIG_KCOV_ENABLE_COMPARISONS=y', 'CONFIG_KCOV_INSTRUMENT_ALL=y'])
    if (!got.split('\n').includes(line)) cannot(`this source can not be configured with ${line}`);
}

function build() {
  for (const tool of TOOLS)
    if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
      cannot(`needs ${tool}, which is not installed`);
  const old = existsSync(out) ? readdirSync(out).find(name => name.startsWith(`${META}-`)) : undefined;
  const tree = old ? join(out, old) : source();
  configure(tree);
  run('nice', ['make', ...MAKE, `-j${availableParallelism()}`, 'Image'], tree, HOUR);
  copyFileSync(join(tree, 'arch/riscv/boot/Image'), image);
  copyFileSync(join(tree, 'vmlinux'), join(out, 'vmlinux'));
  writeFileSync(stamp, key);
  rmSync(tree, { recursive: true });
}

const current = existsSync(image) && existsSync(stamp) && readFileSync(stamp, 'utf8') === key;
if (!current && args.includes('--cached'))
  cannot('not built; node setup/build-linux-kcov.mjs builds it in a few minutes');
if (!current) build();
process.stdout.write(`${image}\n`);
