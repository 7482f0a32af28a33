// A QEMU that knows the extensions which this machine's may lack (Zicond, Zcb, Zfa, Zfhmin, Zicbom
// ...): the machine's own when it is new enough, else that of Debian trixie with its libraries, 30
// MB to download, below DIRECTORY. Usage: node setup/fetch-qemu.mjs [DIRECTORY] Exit status 0:
// standard output names the program. 77: this machine can not get it, and the reason is printed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { aptRoot, cannot, unpackWithLibraries } from './apt.mjs';

const PROGRAM = 'qemu-system-riscv64';
/** The first version that the tests were made with. */
const NEW_ENOUGH = 10;
const DEBIAN_ARCHS = { x64: 'amd64', arm64: 'arm64' };

const target = resolve(process.argv[2] ?? '.cache/qemu');
const program = join(target, PROGRAM);

/** Major version of a QEMU, 0 when it does not run. */
function versionOf(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return Number(/version (\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
}

/** Its C library is newer than this machine's, so it runs under the loader that came with it. */
function launcher(tree) {
  const isLoader = name => /^ld-linux.*\.so\.\d$/.test(name);
  const filesOf = lib => readdirSync(join(tree, lib));
  const libs = filesOf('usr/lib').map(name => `usr/lib/${name}`);
  const lib = libs.find(path => path.endsWith('-linux-gnu') && filesOf(path).some(isLoader));
  if (!lib) cannot('the packages hold no loader');
  return `#!/bin/sh
here=$(dirname -- "$0")
export QEMU_MODULE_DIR="$here/${lib}/qemu"
exec "$here/${lib}/${filesOf(lib).find(isLoader)}" --library-path "$here/${lib}" \\
  "$here/usr/bin/${PROGRAM}" -L "$here/usr/share/qemu" "$@"
`;
}

/** Builds the tree beside its place, so that it is complete or not there. */
function fetch() {
  const arch = DEBIAN_ARCHS[process.arch] ?? cannot(`Debian has no QEMU for ${process.arch}`);
  const work = `${target}.${process.pid}`;
  const tree = join(work, 'tree');
  process.on('exit', () => rmSync(work, { recursive: true, force: true }));
  mkdirSync(tree, { recursive: true });
  unpackWithLibraries(aptRoot(work, arch), ['qemu-system-riscv'], tree);
  for (const unused of ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'etc', 'var'])
    rmSync(join(tree, unused), { recursive: true, force: true });
  writeFileSync(join(tree, PROGRAM), launcher(tree), { mode: 0o755 });
  if (!existsSync(target)) renameSync(tree, target);
}

if (versionOf(PROGRAM) >= NEW_ENOUGH) process.stdout.write(`${PROGRAM}\n`);
else {
  if (!existsSync(program)) fetch();
  if (versionOf(program) < NEW_ENOUGH) cannot(`${program} does not run here`);
  process.stdout.write(`${program}\n`);
}
