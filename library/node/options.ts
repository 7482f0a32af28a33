// The options of the functions of `kcovbox/node`.
import type { Signal } from '../signal.ts';

/** Whose kcov, system calls and headers. */
export type Dialect = 'openbsd' | 'netbsd' | 'freebsd' | 'linux';

export interface CompileOptions {
  /** Whose headers come first on the include path. Default: `openbsd`. */
  readonly dialect?: Dialect;
  /** More flags of clang, after `-O1 -g -Wall` and those that the guest needs. */
  readonly cflags?: readonly string[];
}

export interface KernelOptions {
  /**
   * Folder of a kernel tree to build from, a copy of the package's `kernel/`. Default: that one.
   */
  readonly source?: string;
  /** Takes a line when a build will take seconds. */
  readonly onMessage?: (line: string) => void;
}

export interface RunOptions {
  /** Arguments behind argv[0]. */
  readonly args?: readonly string[];
  /** The program's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Standard input: all of it, or chunks as they come, such as a readable stream. Text is UTF-8.
   * Default: empty.
   */
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array | string>;
  /** Whose kcov the kernel speaks. Default: that of `conf` or `kernel`, or `openbsd`. */
  readonly dialect?: Dialect;
  /** Kernel configuration, as `linux+kasan`. Default: the dialect. */
  readonly conf?: string;
  /** Path of a kernel image, instead of one that is built. */
  readonly kernel?: string;
  /** Folder to build the kernel from, a copy of the package's `kernel/`. */
  readonly kernelSource?: string;
  /** More flags of the compiler, where the program is C. */
  readonly cflags?: readonly string[];
  /** More words of the kernel command line. */
  readonly append?: string;
  /** Record with the device, with C hooks in the guest, or not at all. Default: `device`. */
  readonly kcov?: 'device' | 'guest' | 'off';
  /** Default: `jit`. The run is the same with each. */
  readonly engine?: 'jit' | 'interp' | 'lockstep';
  /** 1 to 8. Default: 1. */
  readonly harts?: number;
  /** CPU and extensions, as QEMU's `-cpu` spells them: `rv64,zba=off`. Default: `rv64`. */
  readonly cpu?: string;
  /** Bytes of RAM: whole MiB, 16 MiB to 2 GiB. Default: 256 MiB. */
  readonly memory?: number;
  /** Of everything random in the guest. 64 bits. */
  readonly seed?: bigint;
  /** Of the order in which harts take turns. 64 bits. */
  readonly schedSeed?: bigint;
  /**
   * How the seed orders the harts once the program runs: `rw`, `rp` or `pct:DEPTH[:UNITS]`, as
   * `--schedule`. Absent: turns of random lengths, from power-on.
   */
  readonly schedule?: string;
  /** An instruction takes 2^icount nanoseconds of the guest's time, 0 to 10. Default: 0. */
  readonly icount?: number;
  /** The run ends with status 124 after so many instructions. Default: no limit. */
  readonly maxInsns?: number;
  /** Record what kcov records as `trace` of the run. Default: false; a recorded run is slower. */
  readonly cover?: boolean;
  /**
   * Record a C program that does not use kcov itself: kcov is compiled into it. Implies `cover`.
   */
  readonly trace?: boolean;
  /** Name of the test in the trace. Default: that of the program. */
  readonly testName?: string;
  /** Takes what the guest prints, as it comes. */
  readonly onOutput?: (chunk: Uint8Array) => void;
  /** Takes lines about builds, and the compiler's warnings. */
  readonly onMessage?: (text: string) => void;
  /**
   * Ends the run early; it rejects with the signal's reason. The source of `input` is closed; a
   * stream is destroyed.
   */
  readonly signal?: Signal;
}

/** Images that a thin capsule names by hash only, where they are not in the cache. */
export interface RecordedFiles extends Pick<RunOptions, 'cflags'> {
  /**
   * Paths of images; instead of the program's image, the program: a C source is compiled with
   * `cflags`.
   */
  readonly files?: readonly string[];
  /** Path of the kernel image. */
  readonly kernel?: string;
}

/** How a capsule is run again. */
export interface ReplayOptions
  extends Pick<RunOptions, 'engine' | 'cover' | 'testName' | 'onOutput' | 'signal'>,
    RecordedFiles {}

/** The failure, and how forks differ from the recorded run. */
export interface WhyOptions extends RecordedFiles {
  /**
   * The failure: a console line that matches, or an exit status. Default: the first report of the
   * kernel or its panic, where numbers do not count; else the exit status; else that the run does
   * not end.
   */
  readonly failure?: { readonly console: RegExp } | { readonly status: number };
  /** At each place. Default 60. */
  readonly forks?: number;
  /** Turns of harts last up to twice as many units, timers are up to so late. Default 20,000. */
  readonly spread?: number;
  /** Of the forks; the same seed gives the same answer. Default 1. */
  readonly seed?: bigint;
  /** Instructions of all forks together. Default 2 * 10^10. */
  readonly budget?: number;
  readonly engine?: 'jit' | 'interp';
  /** Called behind each fork with what is known of its place. */
  readonly onProgress?: (place: WhyPlace) => void;
  /** Ends the search early; it rejects with the signal's reason. */
  readonly signal?: Signal;
}

/** Forks that started at one place of the recorded run. */
export interface WhyPlace {
  /** The place: units (instructions and exceptions of all harts) since power-on. */
  unit: number;
  forks: number;
  /** Forks that failed like the recorded run. */
  fails: number;
  /** Of the share that fails, with 95 % confidence. */
  interval: { low: number; high: number };
}
