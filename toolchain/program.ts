// Compiles one C source (plus what it includes) into a static Linux/riscv64 ELF for the guest. The
// flags are what a test program wants: -O1 -g -Wall, and a store to address 0 is a store. --cflags
// comes behind them.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { cached, packageRoot } from './cache.ts';
import { clangIdentity, requireTool } from './compilers.ts';
import { parseDepfile } from './depfile.ts';
import { CompileError, ToolchainError } from './errors.ts';
import { DIALECTS, type Dialect } from './kernel.ts';
import { findPrebuilt, hasPrebuilt, inPackage, programName } from './prebuilt.ts';
import { tell } from './standard-error.ts';
import { GLIBC_ROOT, requireGlibc, runTool } from './tools.ts';

export interface ProgramOptions {
  /** Whose headers come first on the include path. */
  readonly dialect: Dialect;
  /** Extra compiler flags, after all others. */
  readonly cflags?: readonly string[];
  /** Compile kcov into it: the program opens and enables kcov before its first line. */
  readonly trace?: boolean;
  /** Takes the compiler's warnings; default: standard error. */
  readonly say?: ((text: string) => void) | undefined;
}

/** Errors: ToolchainError if a tool is missing that builds kernels or programs. */
export function requireBuildTools(): void {
  for (const tool of ['clang', 'ld', 'nm', 'make'] as const) requireTool(tool);
  requireGlibc();
}

/** Include folder of a personality, or of what all share. */
const includeDir = (name: string): string => join(packageRoot(), 'guest-programs', 'include', name);

/** Macros that the compiler of that system defines; headers of the C library do not use them. */
const NOT_LINUX = ['-U__linux__', '-U__linux', '-Ulinux', '-U__gnu_linux__'];
const SYSTEM_MACROS: Record<Dialect, readonly string[]> = {
  openbsd: [...NOT_LINUX, '-D__OpenBSD__=1'],
  netbsd: [...NOT_LINUX, '-D__NetBSD__=1'],
  freebsd: [...NOT_LINUX, '-D__FreeBSD__=14'],
  linux: [],
};

/** Flags in front of the source's name. */
export function programFlags(source: string, options: ProgramOptions): string[] {
  const folder = dirname(resolve(source));
  const personality = [includeDir(options.dialect), includeDir('common')]
    .filter(existsSync)
    .flatMap(dir => ['-isystem', dir]);
  return [
    '--target=riscv64-linux-gnu',
    '-march=rv64gc',
    '-static',
    `--ld-path=${requireTool('ld')}`,
    '-Wl,--build-id=none',
    '-O1',
    '-g',
    '-Wall',
    // *(char *)0 = 1 is a segmentation fault, not undefined behaviour.
    '-fno-delete-null-pointer-checks',
    '-Wno-null-dereference', // which this warning says is deleted
    '-std=gnu17',
    '-pthread',
    // Debug information does not depend on where the source and this package are: the compiler
    // runs in the source's folder and calls it `.`, also for a source inside of the package.
    '-fdebug-compilation-dir=.',
    `-ffile-prefix-map=${folder}=.`,
    `-ffile-prefix-map=${packageRoot()}=kcovbox`,
    '-fno-caret-diagnostics',
    ...SYSTEM_MACROS[options.dialect],
    '-nostdlibinc',
    ...personality,
    '-isystem',
    join(GLIBC_ROOT, 'include'),
  ];
}

/** The program that travels in the package, when `path` is its source. */
async function unmodifiedProgram(
  path: string,
  { dialect, cflags = [], trace = false }: ProgramOptions,
): Promise<{ path: string; built: boolean } | undefined> {
  const source = inPackage(path);
  if (source === undefined || trace || cflags.length > 0) return undefined;
  const name = programName(dialect, source);
  if (!hasPrebuilt(name)) return undefined;
  const key = ['prebuilt', packageRoot(), name].join('\0');
  try {
    return await cached('program', key, namingOf(path), async output => {
      const prebuilt = findPrebuilt(name);
      if (!prebuilt) throw new Modified();
      writeFileSync(output, prebuilt.bytes, { mode: 0o755 });
      return prebuilt.inputs;
    });
  } catch (error) {
    if (error instanceof Modified) return undefined;
    throw error;
  }
}

/** A source differs from what the prebuilt program was made from: compile it. */
class Modified extends Error {}

const namingOf = (path: string): { label: string; suffix: string } => ({
  label: basename(path).replace(/\.c$/i, ''),
  suffix: '.elf',
});

/**
 * The line behind the tools' own words: clang names the linker if that one has failed. A header
 * that other dialects have is named with them.
 */
const failureOf =
  (source: string) =>
  (said: string): string => {
    if (/linker command failed/.test(said))
      return `${source} compiles but does not link: the linker's words are above`;
    const [, header] = /'([\w/-]+\.h)' file not found/.exec(said) ?? [];
    const having = header ? DIALECTS.filter(dialect => existsSync(join(includeDir(dialect), header))) : [];
    if (having.length === 0) return `${source} does not compile`;
    return `${source} does not compile: ${header} comes with --dialect ${having.join(' or ')}`;
  };

/** e_type of a program, and of one that can be loaded anywhere. */
const LINKED = [2, 3];

/** Is there a whole program? Flags such as -c leave another file, or none. */
function isLinked(path: string): boolean {
  if (!existsSync(path)) return false;
  const head = readFileSync(path).subarray(0, 18);
  return head.length === 18 && head.readUInt32BE(0) === 0x7f45_4c46 && LINKED.includes(head.readUInt16LE(16));
}

/** Flags with which clang does not link. */
const UNLINKED =
  /^(?:-[cESM]|-MM|-fsyntax-only|-###|-emit-(?:llvm|ast)|--(?:version|help|analyze|precompile)|--?print-.*)$/;

function notLinked(source: string, cflags: readonly string[] = [], said: string): CompileError {
  const flag = cflags.find(word => UNLINKED.test(word));
  return new CompileError(
    `${source} was not linked to a program: ${flag ? `omit ${flag}` : `see the flags ${cflags.join(' ')}`}`,
    said.trimEnd(),
  );
}

/**
 * Path of the ELF for `source`; `hash` names its contents, where they can be relied on. Errors:
 * ToolchainError; when the source does not compile, `detail` is what the compiler said.
 */
export async function buildProgram(
  source: string,
  options: ProgramOptions,
): Promise<{ path: string; built: boolean; hash?: string }> {
  const path = resolve(source);
  if (!existsSync(path)) throw new ToolchainError(`${source}: no such file`);
  const unmodified = await unmodifiedProgram(path, options);
  if (unmodified) return unmodified;
  const clang = requireTool('clang');
  requireGlibc();
  const flags = [
    ...programFlags(path, options).filter(f => f !== '-fno-caret-diagnostics'),
    ...(options.trace ? ['-include', join(packageRoot(), 'guest-programs', 'kcov-self.h')] : []),
    ...(options.cflags ?? []),
  ];
  const key = ['program', path, clangIdentity(), ...flags].join('\0');
  return cached('program', key, namingOf(path), async output => {
    const depfile = `${output}.d`;
    // Compiled in the source's own folder under its base name, so the product does not depend on
    // where that is.
    const name = basename(path);
    const file = name.startsWith('-') ? `./${name}` : name; // not an option
    const args = [...flags, '-MD', '-MF', depfile, file, '-o', output, '-lm'];
    const staged = `${output}.elf`;
    args[args.indexOf(output)] = staged;
    try {
      const said = await runTool(clang, args, dirname(path), failureOf(source), CompileError);
      if (!isLinked(staged)) throw notLinked(source, options.cflags, said);
      if (said.trim()) (options.say ?? tell)(said);
      renameSync(staged, output);
      return parseDepfile(readFileSync(depfile, 'utf8')).map(file => resolve(dirname(path), file));
    } finally {
      rmSync(depfile, { force: true });
      rmSync(staged, { force: true });
    }
  });
}
