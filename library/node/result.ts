// The file of the command's `--result`, as types; docs/schemas/ has the same as JSON Schema.
import type { RunResult as Inner } from '../../run/index.ts';

/**
 * The run description: with its images, every execution has the same instructions, output and
 * coverage.
 */
export interface RunDescription {
  format: 'kcovbox run';
  version: 1;
  /** SHA-256 of each image; `id` is the name that traces of the kernel carry. */
  images: { kernel: { id: string; sha256: string }; initrd: string; program: string };
  program: {
    name: string;
    argv: string[];
    environment: Record<string, string>;
    cflags: string[];
    /** kcov is compiled into it. */
    trace?: true | undefined;
  };
  /** `append`: the whole kernel command line. */
  kernel: { dialect: 'openbsd' | 'netbsd' | 'freebsd' | 'linux'; conf: string; append: string };
  machine: {
    harts: number;
    /** Optional extensions of the harts, sorted. */
    extensions: string[];
    /** Extensions that the harts lack and have otherwise: `zihpm`. */
    without?: string[] | undefined;
    /** Bytes. */
    memory: number;
    kcov: 'device' | 'guest' | 'off';
    /** In hexadecimal. */
    seed: string | null;
    schedSeed: string | null;
    /** `rw`, `rp` or `pct:DEPTH[:UNITS]`. */
    schedule?: string | undefined;
    icountShift: number;
    devices: { kind: 'console'; rows: number; cols: number }[];
  };
  /** Instructions. */
  budget: number | null;
  input: {
    kind: 'none' | 'stream' | 'interactive';
    /** That were delivered. */
    bytes: number;
    sha256: string;
    rule: 'idle-64k' | 'poll-64k' | null;
    endAt: number | null;
    journal: string | null;
  };
}

/** How a run ended. */
export interface RunOutcome {
  /**
   * `exit`: the program ended. `panic`: the kernel panicked. `no-start`: the kernel could not start
   * the program. `budget`: `maxInsns` are spent. `halt`: the guest waits for an interrupt that
   * cannot come. `interrupted`: of recordings of the command, which a signal ended.
   */
  end: 'exit' | 'panic' | 'no-start' | 'budget' | 'halt' | 'interrupted';
  /**
   * As the command's: the program's own, 128+n for signal n; 124 budget, 125 halt, 126 panic, 127
   * no start.
   */
  status: number;
  /** Instructions that retired. */
  instret: number;
  /** Virtual time in units of one instruction or exception. */
  time: number;
  /** Of registers, memory and devices: 16 hexadecimal digits. */
  stateHash: string;
  /**
   * Link k hashes link k - 1 and the state at unit k * interval; the last is of the end. The first
   * links that differ enclose the first difference of two runs.
   */
  runHash: { interval: number; links: string[] };
  /** SHA-256 of what the guest printed. */
  consoleHash: string;
  /** Records of kcov, lost ones included. */
  records: number;
}

/** The description of a run, its outcome, and where it ran. */
export interface RunResult {
  format: 'kcovbox result';
  version: 2;
  /** SHA-256 of the description: equal runs have equal ids. */
  runId: string;
  run: RunDescription;
  outcome: RunOutcome;
  /** Facts that cannot change the run. */
  host: { kcovbox: string; node: string; compiler: string | null; engine: 'jit' | 'interp' | 'lockstep' };
}

/** The type checker compares the two. @internal */
export const asPublic = (result: Inner): RunResult => result;
