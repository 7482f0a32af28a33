// Builds xv6-riscv, the teaching kernel of MIT, as its own Makefile does: one commit of its
// repository, by the cross compiler that is installed. A checkout that lies in DIRECTORY/xv6-riscv
// already is used as it is.
// Usage: node setup/build-xv6.mjs [--source] [DIRECTORY]      default: .cache/guests
// Exit status 0: the path of the kernel is printed, and fs.img lies beside it; with --source the
// folder of the sources, which are not compiled. 77: this machine cannot do it, and the reason is
// printed.

import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cannot, run } from './apt.mjs';

const REPOSITORY = 'https://github.com/mit-pdos/xv6-riscv';
const COMMIT = 'f5b93ef12f7159f74f80f94729ee4faabe42c360';
const PREFIXES = ['riscv64-linux-gnu-', 'riscv64-unknown-elf-'];

const words = process.argv.slice(2);
const isSource = words[0] === '--source';
const target = resolve(words[isSource ? 1 : 0] ?? '.cache/guests');
const source = join(target, 'xv6-riscv');
const kernel = join(target, 'xv6/kernel');

function fetchSource() {
  mkdirSync(source, { recursive: true });
  run('git', ['init', '-q', source], target);
  run('git', ['-C', source, 'fetch', '-q', '--depth', '1', REPOSITORY, COMMIT], target);
  run('git', ['-C', source, 'checkout', '-q', COMMIT], target);
}

function toolPrefix() {
  const path = (process.env['PATH'] ?? '').split(':');
  const prefix = PREFIXES.find(p => path.some(dir => existsSync(join(dir, `${p}gcc`))));
  return prefix ?? cannot(`none of ${PREFIXES.map(p => `${p}gcc`).join(', ')} is installed`);
}

if (isSource) {
  if (!existsSync(join(source, 'Makefile'))) fetchSource();
} else if (!existsSync(kernel)) {
  const prefix = toolPrefix();
  if (!existsSync(join(source, 'Makefile'))) fetchSource();
  run('make', [`TOOLPREFIX=${prefix}`, 'kernel/kernel', 'fs.img'], source);
  mkdirSync(dirname(kernel), { recursive: true });
  copyFileSync(join(source, 'fs.img'), join(dirname(kernel), 'fs.img'));
  // The kernel comes last: where it is, all is.
  copyFileSync(join(source, 'kernel/kernel'), `${kernel}.new`);
  renameSync(`${kernel}.new`, kernel);
}
process.stdout.write(`${isSource ? source : kernel}\n`);
