// Builds the guest kernel for one configuration. kernel/Makefile is the one description of how;
// this adds the cache of products, the cache of objects, and a private output folder, so that two
// builds never meet.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, normalize, relative, resolve } from 'node:path';
import { cached, packageRoot } from './cache.ts';
import { clangIdentity, findTool, requireTool } from './compilers.ts';
import { parseDepfile } from './depfile.ts';
import { CompileError, ToolchainError } from './errors.ts';
import { makeFolders } from './folders.ts';
import { sha256OfParts } from './hash.ts';
import { type Compilation, ObjectCache, parseConfig } from './objects.ts';
import { findPrebuilt, inPackage, kernelName } from './prebuilt.ts';
import { tell } from './standard-error.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';
import { runTool } from './tools.ts';
import { compileChecked, visibleOnly, withoutFolder } from './untrusted.ts';

/** Personalities in the order the documents name them; also the names of kernel/conf files. */
export const DIALECTS = ['openbsd', 'netbsd', 'freebsd', 'linux'] as const;
export type Dialect = (typeof DIALECTS)[number];

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * Every file that can influence a kernel build and, because another one may appear, every folder.
 * `hasLinks`: links to folders count as folders, see `makeTree`.
 */
function kernelSources(dir: string, hasLinks = false): string[] {
  const below = readdirSync(dir, { withFileTypes: true }).flatMap(entry => {
    const path = join(dir, entry.name);
    const isLinked = hasLinks && entry.isSymbolicLink() && statSync(path).isDirectory();
    if (entry.isDirectory() || isLinked)
      return entry.name === 'build' ? [] : kernelSources(path, hasLinks && !isLinked);
    if (!isFile(path)) return []; // opening a pipe would wait for its other end
    return /\.(c|h|S|ld|def|awk)$|^(Makefile|option)$/.test(entry.name) || dir.endsWith('conf') ? [path] : [];
  });
  return [dir, ...below].sort();
}

const ownSource = (): string => join(packageRoot(), 'kernel');

export interface KernelOptions {
  /** Another tree than the package's kernel/, of the same shape. */
  readonly source?: string | undefined;
  /** C files that are compiled into the kernel as well. */
  readonly drivers?: readonly string[];
  /** Headers for them by name: those of the user's own devices. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Files by path below the tree that replace its own or are added, written by strangers: what is
   * compiled for them sees the tree and nothing else of this machine (untrusted.ts).
   */
  readonly overlay?: ReadonlyMap<string, Uint8Array> | undefined;
  /** Takes the line about a build that will take seconds; default: standard error. */
  readonly say?: ((line: string) => void) | undefined;
}

export interface BuiltKernelFile {
  readonly path: string;
  /** False when the cache had it. */
  readonly built: boolean;
  /** Sources that were compiled for it. */
  readonly compiled: number;
  /** Of its contents, where the cache had it. */
  readonly hash?: string;
}

function checkTree(source: string): void {
  if (!existsSync(source)) throw new ToolchainError(`kernel tree ${source}: no such folder`);
  for (const part of ['Makefile', 'conf/', 'kernel.ld'])
    if (part.endsWith('/') ? !existsSync(join(source, part)) : !isFile(join(source, part)))
      throw new ToolchainError(
        `${source} is not a kernel tree: it has no ${part}; copy the kernel/ folder of kcovbox and change that`,
      );
}

/** Files of the package that decide its kernels, by relative path. */
export const kernelInputs = (): string[] =>
  kernelSources(ownSource())
    .filter(path => statSync(path).isFile())
    .flatMap(path => inPackage(path) ?? [])
    .sort();

/**
 * Names of conf/: the personalities, and the fragments (kasan, debug, ...) that a `+` adds to one.
 */
export function kernelConfigs(tree?: string): string[] {
  const source = resolve(tree ?? ownSource());
  if (tree !== undefined) checkTree(source);
  return readdirSync(join(source, 'conf')).filter(name => !name.includes('.'));
}

/**
 * The kernel ELF for configuration `conf`: a personality, or `openbsd+debug+kasan` with fragments
 * of conf/. Errors: ToolchainError with the compiler's output.
 */
export async function buildKernel(conf: string, options: KernelOptions = {}): Promise<BuiltKernelFile> {
  const source = options.source === undefined ? ownSource() : resolve(options.source);
  const known = kernelConfigs(options.source);
  if (!conf.split('+').every(part => known.includes(part)))
    throw new ToolchainError(`no kernel configuration "${conf}"; there are ${known.join(', ')}`);
  const compiler = findTool('clang') === undefined ? 'no compiler' : clangIdentity();
  const { drivers = [], headers = {} } = options;
  const own = drivers.map(path => resolve(path));
  for (const path of own)
    if (!isFile(path)) throw new ToolchainError(`driver ${path}: there is no such file`);
  const extra = own.length === 0 ? [] : [...own, JSON.stringify(headers)];
  const { overlay } = options;
  const laid = overlay ? ['overlay', ...[...overlay].flat().map(part => sha256OfParts(part))] : [];
  const key = ['kernel', source, conf, compiler, ...extra, ...laid].join('\0');
  let compiled = 0;
  const product = await cached('kernel', key, { label: conf, suffix: '.elf' }, async output => {
    const read = kernelSources(source);
    if (overlay) {
      const tree = makeTree(source, overlay);
      try {
        const build = new KernelBuild(tree, conf, options.say, true);
        ({ compiled } = await build.run(output, own, headers));
      } catch (error) {
        throw withoutFolder(error, tree);
      } finally {
        removeTemporaryFolder(tree);
      }
      return [...read, ...own];
    }
    const prebuilt =
      options.source === undefined && own.length === 0
        ? findPrebuilt(kernelName(conf), kernelInputs())
        : undefined;
    if (prebuilt) {
      writeFileSync(output, prebuilt.bytes, { mode: 0o755 });
      return read;
    }
    const build = await new KernelBuild(source, conf, options.say).run(output, own, headers);
    compiled = build.compiled;
    return [...read, ...build.read];
  });
  return { ...product, compiled };
}

/** Can every dialect's kernel be had without a compiler? */
export const hasPrebuiltKernels = (): boolean =>
  DIALECTS.every(dialect => findPrebuilt(kernelName(dialect), kernelInputs()) !== undefined);

/** Headers by name. */
type Headers = NonNullable<KernelOptions['headers']>;
/** A source of the tree whose flags are those of drivers from outside. */
const LIKE_DRIVERS = 'dev/edu.c';

/** CPU seconds of one source; only for the line that says how long a build will take. */
const SECONDS_PER_SOURCE = 0.14;
/** Builds that take less are not announced. */
const ANNOUNCED = 2;

const tellLine = (line: string): void => tell(`${line}\n`);

/** A header that is not there may be one that a device makes. */
const failureOfDriver =
  (source: string, made: readonly string[]) =>
  (said: string): string => {
    const [, missing] = /'(\w+\.h)' file not found/.exec(said) ?? [];
    const has = made.length === 0 ? '' : `; those given make ${made.join(', ')}`;
    const hint = missing ? `: the header of a device comes with --device FILE${has}` : '';
    return `driver ${source} does not compile${hint}`;
  };

class KernelBuild {
  readonly #source: string;
  readonly #conf: string;
  readonly #say: (line: string) => void;
  readonly #isUntrusted: boolean;

  constructor(source: string, conf: string, say: KernelOptions['say'] = tellLine, isUntrusted = false) {
    this.#source = source;
    this.#conf = conf;
    this.#say = say;
    this.#isUntrusted = isUntrusted;
  }

  get #failure(): string {
    return `kernel configuration ${this.#conf} does not build`;
  }

  /**
   * Leaves the kernel at `output`; answers with the number of sources of the tree that were
   * compiled, and the files that the drivers were made from.
   */
  async run(
    output: string,
    drivers: readonly string[],
    headers: Headers,
  ): Promise<{ compiled: number; read: string[] }> {
    const out = makeOutput(output);
    try {
      const compilations = await this.#plan(out);
      const own = await this.#compileDrivers(drivers, headers, compilations, out);
      const compiled = await this.#compileAll(compilations, out);
      await this.#make(out, `${out}/kernel.elf`, 'OBJECTS=given', `EXTRA=${own.objects.join(' ')}`);
      moveFile(join(out, 'kernel.elf'), output);
      return { compiled, read: own.read };
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  }

  #make(out: string, ...words: readonly string[]): Promise<string> {
    const tools = [`CC=${requireTool('clang')}`, `LD=${requireTool('ld')}`, `NM=${requireTool('nm')}`];
    const args = ['-s', '--no-print-directory', `CONF=${this.#conf}`, `OUT=${out}`, ...tools, ...words];
    const Failure = this.#isUntrusted ? CompileError : ToolchainError;
    return runTool(requireTool('make'), args, this.#source, this.#failure, Failure);
  }

  /** The compilations of the Makefile. */
  async #plan(out: string): Promise<Compilation[]> {
    const [first = '', ...rest] = (await this.#make(out, 'commands')).trimEnd().split('\n');
    const words = (line: string): string[] => line.split(' ').filter(Boolean);
    const [head, ...common] = words(first);
    if (head !== 'flags') throw new ToolchainError(this.#failure, `make commands says: ${first}`);
    return rest.map(line => {
      const [source = '', ...own] = words(line);
      const object = join(out, `${source}.o`);
      makeFolders(dirname(object));
      return { source, flags: [...common, ...own], object };
    });
  }

  /**
   * Drivers from outside of the tree, with the flags of one inside; answers with their objects, and
   * with the files that they include. Not cached: drivers are being edited, and the headers of
   * devices exist for this build alone.
   */
  async #compileDrivers(
    drivers: readonly string[],
    headers: Headers,
    compilations: readonly Compilation[],
    out: string,
  ): Promise<{ objects: string[]; read: string[] }> {
    const like = compilations.find(({ source }) => source === LIKE_DRIVERS);
    if (drivers.length > 0 && !like)
      throw new ToolchainError(
        `${this.#source} has no ${LIKE_DRIVERS}, whose flags drivers are compiled with`,
      );
    for (const [name, text] of Object.entries(headers)) writeFileSync(join(out, name), text);
    const objects: string[] = [];
    const read: string[] = [];
    for (const [i, source] of drivers.entries()) {
      const object = join(out, `own-${i}.o`);
      const args = [...like!.flags, '-I', out, '-MD', '-MF', `${object}.d`, '-c', source, '-o', object];
      const failure = failureOfDriver(source, Object.keys(headers));
      await runTool(requireTool('clang'), args, this.#source, failure, CompileError);
      objects.push(object);
      read.push(...filesOf(object, out).map(path => resolve(this.#source, path)));
    }
    return { objects, read };
  }

  async #compileAll(compilations: readonly Compilation[], out: string): Promise<number> {
    const headers = kernelSources(this.#source, this.#isUntrusted).filter(path => /\.(h|def)$/.test(path));
    const names = headers.map(path => path.slice(this.#source.length));
    const config = parseConfig(readFileSync(join(out, 'config.h'), 'utf8'));
    const context = [clangIdentity(), ...names];
    const trusted = new ObjectCache(this.#source, sha256OfParts(...context), config);
    // By way of assembly text an object has other bytes.
    const objects = this.#isUntrusted
      ? new ObjectCache(this.#source, sha256OfParts(...context, 'from checked text 2'), config)
      : trusted;
    const missing = compilations.filter(
      compilation => !trusted.fetch(compilation) && (objects === trusted || !objects.fetch(compilation)),
    );
    const visible = this.#isUntrusted
      ? await visibleOnly([this.#source, out], join(out, 'overlay.yaml'))
      : [];
    const workers = Math.max(1, Math.min(availableParallelism(), missing.length));
    const seconds = 1 + Math.ceil((missing.length * SECONDS_PER_SOURCE) / workers);
    if (missing.length > 0 && seconds > ANNOUNCED)
      this.#say(`kcovbox: building the ${this.#conf} kernel, about ${seconds} s`);
    const waiting = missing.values();
    let failed = false;
    const work = async (): Promise<void> => {
      for (const compilation of waiting) {
        if (failed) return;
        try {
          objects.store(compilation, await this.#compile(compilation, out, visible));
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: workers }, work));
    const bad = ends.find(end => end.status === 'rejected');
    if (bad) throw bad.reason;
    return missing.length;
  }

  /** Answers with the files that the compiler read. */
  async #compile(
    { source, flags, object }: Compilation,
    out: string,
    visible: readonly string[],
  ): Promise<string[]> {
    const common = [...flags, '-I', out, '-MD', '-MF', `${object}.d`];
    if (this.#isUntrusted && source.endsWith('.c')) {
      const isolated = [...common, '-MT', object, ...visible];
      await compileChecked(source, isolated, object, this.#source, this.#failure);
    } else {
      const args = [...common, '-c', source, '-o', object];
      await runTool(requireTool('clang'), args, this.#source, this.#failure);
    }
    return filesOf(object, out);
  }
}

/** The files that the compiler read for `object`, as it lists them, without those of the build. */
const filesOf = (object: string, out: string): string[] =>
  parseDepfile(readFileSync(`${object}.d`, 'utf8')).filter(path => !path.startsWith(`${out}/`));

/**
 * A tree for one build: `source` and the files of `overlay`. Folders without any of these are
 * links, and so are the other files: a link for each file of the kernel would take as long as
 * compiling one.
 */
function makeTree(source: string, overlay: NonNullable<KernelOptions['overlay']>): string {
  const tree = makeTemporaryFolder('kcovbox-kernel-');
  const paths = [...overlay.keys()].map(path => normalize(path));
  const fill = (folder: string): void => {
    for (const entry of readdirSync(join(source, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === 'build') continue;
      if (entry.isDirectory() && paths.some(other => other.startsWith(`${path}/`))) {
        makeFolders(join(tree, path));
        fill(path);
      } else symlinkSync(join(source, path), join(tree, path));
    }
  };
  fill('');
  for (const [path, bytes] of overlay) {
    const to = join(tree, path);
    const isOutside = (folder: string): boolean => relative(realpathSync(tree), folder).startsWith('..');
    const outside = `${path} lies outside of the kernel tree`;
    if (relative(tree, to).startsWith('..')) throw new ToolchainError(outside);
    makeFolders(dirname(to));
    if (isOutside(realpathSync(dirname(to)))) throw new ToolchainError(outside); // behind a link
    rmSync(to, { force: true });
    writeFileSync(to, bytes);
  }
  return tree;
}

/**
 * A folder for this build alone, beside the product; make cannot take a path with blanks, so then
 * among the temporary files.
 */
function makeOutput(output: string): string {
  const out = `${output}.objects`;
  if (/[\s:#$]/.test(out)) return mkdtempSync(join(tmpdir(), `${basename(output, '.tmp')}-`));
  mkdirSync(out);
  return out;
}

function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    copyFileSync(from, to); // on another file system
  }
}
