// A program as the guest's first process: kernel of the dialect, initial RAM file system with the
// program, command line.
import { basename } from 'node:path';
import { headerOf, isElf, KcovboxError, readElf } from '../emulator/index.ts';
import {
  buildKernel,
  buildProgram,
  type CpioEntry,
  DIALECTS,
  type Dialect,
  writeCpio,
} from '../toolchain/index.ts';
import { CMDLINE_FILE, type CommandLineOptions, commandLine } from './command-line.ts';
import type { LoadedDevice } from './device.ts';
import { checkInput, holdInput, readInput, readLoaded } from './input.ts';
import { checkProgram, EXECUTABLE, NAME_MAX } from './program.ts';

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/**
 * The dialect of a kernel image, by the name of its table; undefined if it has none of ours, such
 * as a stripped image.
 */
export function kernelDialect(path: string): Dialect | undefined {
  const bytes = readInput(path, 'kernel');
  if (!isElf(bytes)) return undefined;
  const names = new Set(readElf(bytes, path).symbols.map(({ name }) => name));
  const found = DIALECTS.filter(dialect => names.has(`kcov_${dialect}`));
  return found.length === 1 ? found[0] : undefined;
}

/** Of a person's terminal. */
export interface WindowSize {
  readonly rows: number;
  readonly cols: number;
}

export interface GuestImages {
  readonly kernelPath: string;
  readonly kernel: Uint8Array;
  /** The part of it that is loaded, in place of `kernel` for machines that need no symbols. */
  readonly loaded?: Uint8Array | undefined;
  /** Names its contents, where the cache knows them. */
  readonly kernelHash?: string | undefined;
  readonly initrd: Uint8Array;
  readonly append: string;
  /**
   * The end of the command line, which the guest reads behind its boot, as the initrd, through
   * fw_cfg: so the boot is that of any program. Undefined: both are in RAM from the start.
   */
  readonly tail: string | undefined;
  /** Of the window, when a person sits in front of it. */
  readonly size: WindowSize | undefined;
  /** Name of the program, as argv[0] shows it. */
  readonly name: string;
  /** Arguments behind argv[0]. */
  readonly args: readonly string[];
  /** The program's ELF. */
  readonly program: Uint8Array;
  /** Names its contents, where the cache knows them. */
  readonly programHash?: string | undefined;
}

export interface GuestOptions extends CommandLineOptions {
  readonly dialect: Dialect;
  /** Kernel configuration; default: the dialect. */
  readonly conf?: string;
  /** Path of a kernel image, instead of one that is built. */
  readonly kernel?: string | undefined;
  /** Tree to build the kernel from, instead of the package's. */
  readonly kernelSource?: string | undefined;
  /** C files of drivers that are compiled into the kernel. */
  readonly drivers?: readonly string[] | undefined;
  /** Devices of the user's own: drivers find their headers. */
  readonly devices?: readonly LoadedDevice[] | undefined;
  readonly cflags?: readonly string[];
  /** Compile kcov into the program, which is C. */
  readonly trace?: boolean | undefined;
  /** Of the window of the person in front of it. */
  readonly size?: WindowSize | undefined;
  /** Takes lines about builds and the compiler's warnings; default: standard error. */
  readonly say?: ((text: string) => void) | undefined;
  /** False: the machine's kernel may lack its symbols, which saves reading them. */
  readonly needsSymbols?: boolean;
  /** Of the program in the guest; default: that of its file, without .c. */
  readonly name?: string | undefined;
  /** More files of the root file system. */
  readonly files?: readonly CpioEntry[];
}

/**
 * `buildProgram` of a source that is a regular file: of a device or a pipe the compiler would read
 * without end. Errors: also those of `readInput`.
 */
export function compileProgram(...[source, options]: Parameters<typeof buildProgram>) {
  checkInput(source, 'program');
  return buildProgram(source, options);
}

/**
 * Bytes of the program: compiled when it is C, else checked to be something the guest could run.
 */
async function loadProgram(
  path: string,
  options: Pick<GuestOptions, 'dialect' | 'cflags' | 'trace' | 'say'>,
): Promise<{ bytes: Uint8Array; hash?: string | undefined }> {
  if (/\.c$/i.test(path)) {
    const built = await compileProgram(path, {
      dialect: options.dialect,
      cflags: options.cflags ?? [],
      trace: options.trace === true,
      say: options.say,
    });
    return { bytes: readInput(built.path, 'program'), hash: built.hash };
  }
  const bytes = readInput(path, 'program');
  checkProgram(path, bytes);
  return { bytes };
}

/** A program in a root file system of its own. */
export async function packProgram(
  program: string,
  options: Pick<GuestOptions, 'dialect' | 'cflags' | 'trace' | 'files' | 'say' | 'name'>,
): Promise<Pick<GuestImages, 'name' | 'program' | 'programHash' | 'initrd'>> {
  const name = options.name ?? basename(program).replace(/\.c$/i, '');
  if (!/^[\x21-\x7e]+$/.test(name))
    throw refused(`program name "${name}" has blanks or characters other than ASCII; rename it`);
  if (name.length > NAME_MAX)
    throw refused(`program name "${name.slice(0, 16)}..." has more than ${NAME_MAX} characters; rename it`);
  const { bytes, hash } = await loadProgram(program, options);
  const entry = { path: `bin/${name}`, mode: EXECUTABLE, data: bytes };
  const initrd = writeCpio([...(options.files ?? []), entry]);
  return { name, program: bytes, programHash: hash, initrd };
}

async function kernelFor(options: GuestOptions): Promise<{ path: string; hash?: string }> {
  const { dialect, conf, kernel, kernelSource, say, drivers = [], devices = [] } = options;
  if (kernel !== undefined && drivers.length > 0)
    throw refused(`kernel ${kernel} is already built: no driver can be compiled into it`);
  if (kernel !== undefined) {
    if (isElf(readInput(kernel, 'kernel'))) return { path: kernel };
    throw refused(`kernel ${kernel} is not an ELF file; kcovbox boot runs other images`);
  }
  const headers = Object.fromEntries(
    devices.map(({ definition }) => [`${definition.name}.h`, headerOf(definition)]),
  );
  return buildKernel(conf ?? dialect, { source: kernelSource, say, drivers, headers });
}

/** The same with the initrd and the whole command line in RAM, as other emulators load them. */
export const allInMemory = (images: GuestImages): GuestImages =>
  images.tail === undefined
    ? images
    : { ...images, append: `${images.append} ${images.tail}`, tail: undefined };

const holds = (bytes: Uint8Array, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text);

/** Everything a machine needs to run `program` with `args` as its first process. */
export async function prepareGuest(
  program: string,
  args: readonly string[],
  options: GuestOptions,
): Promise<GuestImages> {
  const [packed, { path: kernelPath, hash: kernelHash }] = await Promise.all([
    packProgram(program, options),
    kernelFor(options),
  ]);
  const { append, tail } = commandLine(packed.name, args, options);
  const whole = `${append} ${tail}`;
  // A small program ends before all of the kernel is read, most of which is debugging data.
  const loaded =
    options.needsSymbols === false && kernelHash !== undefined ? readLoaded(kernelPath, 'kernel') : undefined;
  const images = { ...packed, kernelPath, loaded, kernelHash, size: options.size, args };
  // Held open: the cache may be pruned while the guest runs, and a report reads it behind the run.
  const readKernel = loaded ? holdInput(kernelPath, 'kernel') : () => readInput(kernelPath, 'kernel');
  let kernel = loaded ? undefined : readKernel();
  // A kernel of the user's own, or of a tree of his own, may be older than the driver of fw_cfg.
  // One of ours has the name of the file if it has the option FW_CFG.
  const isOwn = options.kernel !== undefined || options.kernelSource !== undefined;
  const looks = !isOwn && holds(loaded ?? kernel!, CMDLINE_FILE);
  const words = looks ? { append, tail } : { append: whole, tail: undefined };
  return {
    ...images,
    ...words,
    get kernel() {
      return (kernel ??= readKernel());
    },
  };
}
