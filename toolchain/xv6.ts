// Compiles xv6-riscv for the fuzzer, by the Makefile of the user's tree, with clang: the kernel's C
// files get the hooks of coverage and comparisons, and the linker puts guest-programs/fuzz/
// xv6-hooks.c between the kernel and some of its functions. No text of xv6 is changed.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cached, packageRoot } from './cache.ts';
import { clangIdentity, requireTool, which } from './compilers.ts';
import { CompileError } from './errors.ts';
import { makeFolders } from './folders.ts';
import { sha256OfParts } from './hash.ts';
import { quoted } from './shell.ts';
import { runTool } from './tools.ts';
import { hashOfXv6, writeXv6Tree, type Xv6Tree } from './xv6-tree.ts';

export interface Xv6Images {
  /** ELF, with symbols and debug information. */
  readonly kernel: Uint8Array;
  /** The file system: /init is the agent. */
  readonly disk: Uint8Array;
}

/** Another one, whenever `build` makes other images of the same sources with the same tools. */
const RECIPE = '1';
const TARGET = ['--target=riscv64-unknown-elf', '-march=rv64gc', '-mabi=lp64d', '-mcmodel=medany'];
/** Equal trees give equal images, wherever they are built. */
const NO_FOLDER = '-fdebug-compilation-dir=.';
/** Functions that the hooks stand in front of. */
const WRAPPED = [
  ...['syscall', 'kerneltrap', 'panic', 'uartputc'],
  ...['acquire', 'release', 'push_off', 'pop_off', 'wakeup'],
].map(name => `--wrap=${name}`);
/** The kernel begins there; in old trees its name is not visible to the linker. */
const ENTRY = '0x80000000';
const HOOKS = 'xv6-hooks';
const HEADERS = ['words.h', 'hooks.h', 'xv6.h'];
const PROGRAMS = ['xv6-init.c', 'xv6-exit.c'];
const SCRIPT = 'xv6-user.ld';

const sourceOf = (name: string): string => join(packageRoot(), 'guest-programs', 'fuzz', name);

/** Files of the disk, besides those that the agent makes. */
const NAMES = { 'xv6-init.c': '_init', 'xv6-exit.c': '_x' } as const;
const REPRO = '_repro';

/** Of xv6's file system: a block of a file is a block of the disk. */
const BLOCK = 1024;
const REPRO_BLOCKS = 64;
const blockName = (n: number): string => `kcovbox: room for /repro, block ${n}\n`;

/** Room for the C program of a crash: its blocks are found by their contents. */
function emptyRepro(): Uint8Array {
  const room = Buffer.alloc(REPRO_BLOCKS * BLOCK);
  for (let n = 0; n < REPRO_BLOCKS; n++) room.write(blockName(n), n * BLOCK, 'latin1');
  return room;
}

/** The disk with `program` as /repro, which /init runs. Errors: CompileError if it is too large. */
export function withRepro(disk: Uint8Array, program: Uint8Array): Uint8Array {
  if (program.length > REPRO_BLOCKS * BLOCK)
    throw new CompileError(`the program has ${program.length} bytes: the disk of xv6 has no room for it`);
  const found = Buffer.from(disk);
  for (let n = 0; n < REPRO_BLOCKS; n++) {
    const at = found.indexOf(blockName(n), 0, 'latin1');
    if (at < 0) throw new CompileError('the disk of xv6 has no room for /repro: it was not built by kcovbox');
    found.fill(0, at, at + BLOCK);
    found.set(program.subarray(n * BLOCK, (n + 1) * BLOCK), at);
  }
  return found;
}

/** Beside the tree: a path of the cache may have blanks. */
const TOOLS = '../tools';

/** The tools of xv6's Makefile, as scripts by name. */
function toolScripts(): Readonly<Record<string, string>> {
  const [clang, ld] = [requireTool('clang'), requireTool('ld')].map(quoted);
  return {
    // Functions of memory and strings have no hooks, as in Linux: they would record each byte. For
    // locks see xv6-hooks.c.
    'xv6-gcc':
      `more=\nfor word; do\n  case $word in\n` +
      `  kernel/string.c|kernel/spinlock.c|kernel/${HOOKS}.c) more=; break ;;\n` +
      `  kernel/*.c) more=-fsanitize-coverage=trace-pc,trace-cmp ;;\n  esac\ndone\n` +
      `exec ${clang} ${TARGET.join(' ')} ${NO_FOLDER} -Wno-everything -Qunused-arguments "$@" -Wno-error $more\n`,
    'xv6-ld':
      `for word; do\n  case $word in\n` +
      `  kernel/kernel) exec ${ld} --no-rosegment "$@" ${WRAPPED.join(' ')} -e ${ENTRY} kernel/${HOOKS}.o ;;\n` +
      `  esac\ndone\nexec ${ld} --no-rosegment "$@"\n`,
    // Listings of the code, and a first program that the kernel's sources have as bytes.
    'xv6-objdump': 'exit 0\n',
    'xv6-objcopy': 'exit 0\n',
    // The Makefile compiles mkfs with it, for the host.
    ...(which('gcc') === undefined && { gcc: `exec ${clang} "$@"\n` }),
  };
}

function writeTools(folder: string): void {
  makeFolders(folder);
  for (const [name, text] of Object.entries(toolScripts()))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}`, { mode: 0o755 });
}

/** Compiles a program for xv6's user mode. Errors: CompileError with the compiler's words. */
export async function buildXv6Program(
  source: string,
  output: string,
  flags: readonly string[] = [],
): Promise<void> {
  const object = `${output}.o`;
  const compile = [
    ...TARGET,
    ...[
      '-O1',
      '-ffreestanding',
      '-nostdlib',
      '-fno-builtin',
      '-fno-pic',
      '-mno-relax',
      '-fno-stack-protector',
    ],
    ...['-fno-asynchronous-unwind-tables', `-I${join(packageRoot(), 'guest-programs', 'fuzz')}`, ...flags],
    ...['-c', resolve(source), '-o', object],
  ];
  const failure = `${source} does not compile for xv6`;
  await runTool(requireTool('clang'), compile, packageRoot(), failure, CompileError);
  const link = ['-s', '-z', 'max-page-size=4096', '-T', sourceOf(SCRIPT), '-o', output, object];
  await runTool(requireTool('ld'), link, packageRoot(), failure, CompileError);
  rmSync(object);
}

/** Builds both in `folder`. `name`: of the user's tree, for messages. */
async function build(tree: Xv6Tree, name: string, folder: string): Promise<Xv6Images> {
  const make = requireTool('make');
  const copy = join(folder, 'tree');
  makeFolders(folder);
  writeXv6Tree(tree, copy);
  makeFolders(copy);
  writeTools(join(copy, TOOLS));
  for (const file of [`${HOOKS}.c`, ...HEADERS])
    writeFileSync(join(copy, 'kernel', file), readFileSync(sourceOf(file)));
  const words = [
    `TOOLPREFIX=${TOOLS}/xv6-`,
    `PATH=${TOOLS}:${(process.env['PATH'] ?? '').replaceAll('$', '$$$$')}`,
  ];
  const failure = `xv6 in ${name} does not compile with clang: the words of its Makefile are above`;
  for (const targets of [[`kernel/${HOOKS}.o`], ['kernel/kernel', 'mkfs/mkfs']])
    await runTool(make, ['-s', ...words, ...targets], copy, failure, CompileError);
  for (const source of PROGRAMS) {
    const output = join(copy, 'user', NAMES[source as keyof typeof NAMES]);
    await buildXv6Program(sourceOf(source), output, [`-I${copy}`]);
  }
  writeFileSync(join(copy, 'user', REPRO), emptyRepro());
  const files = [...Object.values(NAMES), REPRO].map(file => `user/${file}`);
  await runTool(
    join(copy, 'mkfs', 'mkfs'),
    ['fs.img', ...files],
    copy,
    `mkfs of ${name} failed`,
    CompileError,
  );
  return { kernel: readFileSync(join(copy, 'kernel/kernel')), disk: readFileSync(join(copy, 'fs.img')) };
}

/** Both images in one file: the number of bytes of the kernel, the kernel, the disk. */
const HEAD = 8;

function packed({ kernel, disk }: Xv6Images): Uint8Array {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(kernel.length);
  return Buffer.concat([head, kernel, disk]);
}

function unpacked(bytes: Buffer): Xv6Images {
  const end = HEAD + bytes.readUInt32LE(0);
  return { kernel: bytes.subarray(HEAD, end), disk: bytes.subarray(end) };
}

/** `name`: of the user's tree, for messages. Errors: ToolchainError, CompileError. */
export async function buildXv6(tree: Xv6Tree, name: string): Promise<Xv6Images> {
  const own = [`${HOOKS}.c`, ...HEADERS, ...PROGRAMS, SCRIPT].map(file => readFileSync(sourceOf(file)));
  const recipe = sha256OfParts(RECIPE, JSON.stringify(toolScripts()), ...own);
  const key = ['xv6', hashOfXv6(tree), recipe, clangIdentity()].join('\0');
  const { path } = await cached('xv6', key, { label: 'xv6', suffix: '.bin' }, async output => {
    const folder = `${output}.objects`;
    writeFileSync(output, packed(await build(tree, name, folder)));
    rmSync(folder, { recursive: true, force: true });
    return [];
  });
  return unpacked(readFileSync(path));
}
