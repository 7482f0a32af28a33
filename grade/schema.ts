// The files of coursework: the manifest of a lab, and the result of judging one submission.
import { z } from 'zod';
import { scheduleName } from '../run/schedule-name.ts';

const id = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/);
const fileName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/);
/** Below a folder: no step upwards, no absolute path. */
export const below = z.string().regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9][\w./-]{0,127}$/);
/** Instructions. */
const budget = z.int().min(1_000_000).max(4_000_000_000);

/**
 * A place of the kernel that must have run: `FILE: TEXT` names the lines of a file that contain the
 * text, `FILE: function NAME` the first line of that function which has code.
 */
const place = z.string().regex(/^[\w./-]+: \S/);

const common = {
  id,
  /** Of the check, in points of the lab. */
  points: z.int().min(1).max(100),
  /** The subject of the check, as one line. */
  says: z.string().min(1).max(120),
  /** For those who fail it. */
  hint: z.string().min(1).max(500).optional(),
};

const run = {
  /** A C source: a test of the lab, or a file of the student's. */
  program: below,
  /** `{seed}` stands for a number that follows from the submission. */
  args: z.array(z.string().max(200)).max(16).optional(),
  harts: z.int().min(1).max(8).optional(),
  /** Fragments of kernel/conf that are added: kasan, lockdep, ... */
  with: z
    .array(z.string().regex(/^[a-z-]+$/))
    .max(6)
    .optional(),
  /** Default: that of the lab. */
  budget: budget.optional(),
  /** RAM of the machine in MiB; default 64. */
  memory: z.int().min(16).max(1024).optional(),
  /** Words for the kernel's command line. `{seed}` as in `args`. */
  append: z.string().max(200).optional(),
  /** Devices of the board besides its own: files of the lab's, or the student's. */
  devices: z.array(below).max(4).optional(),
  /** Files of the student's that are replaced by the teacher's. */
  solution: z.array(fileName).max(8).optional(),
};

const dialect = z.enum(['openbsd', 'netbsd', 'freebsd', 'linux']);

const labCheck = z.discriminatedUnion('kind', [
  /** The program ends as expected, and has executed the places. */
  z.strictObject({
    kind: z.literal('run'),
    ...common,
    ...run,
    /** Default 0. */
    status: z.int().min(0).max(255).optional(),
    /** Regular expressions; each must match a line of the output. */
    prints: z.array(z.string().max(300)).max(50).optional(),
    reaches: z.array(place).max(50).optional(),
    /** The output lists addresses that the run executed, as kcov does; among them the places. */
    lists: z.array(place).max(50).optional(),
  }),
  /** Each place that the student's program executes is a part of the points. */
  z.strictObject({ kind: z.literal('cover'), ...common, ...run, places: z.array(place).min(1).max(100) }),
  /** The program prints what kcov records for one system call, and kcov has recorded it. */
  z.strictObject({
    kind: z.literal('kcov'),
    ...common,
    ...run,
    dialect,
    /** The number of the call, which `{call}` stands for in `args`. */
    calls: z.array(z.int().min(0).max(500)).min(1).max(20),
    /** The records of work for the program, done elsewhere, instead of those of the call. */
    remote: z.boolean().optional(),
  }),
  /** The student's tests fail on kernels that have a fault, and pass on the one without. */
  z.strictObject({
    kind: z.literal('mutants'),
    ...common,
    ...run,
    /** Whose files have the faults: those of the package's kernel, or of the teacher's solution. */
    of: z.enum(['kernel', 'solution']),
    file: below,
    functions: z.array(z.string().regex(/^\w+$/)).min(1).max(40),
    /** So many are needed for all points. */
    need: z.int().min(1).max(200),
  }),
  /** The program passes with each of so many orders of the harts. */
  z.strictObject({
    kind: z.literal('sweep'),
    ...common,
    ...run,
    seeds: z.int().min(1).max(2000),
    /** As `run --schedule` takes it; absent: turns of 2,000 to 42,000 instructions. */
    schedule: scheduleName.optional(),
  }),
  /** The program with each kind of fault at the first events of a device: the kernel survives. */
  z.strictObject({
    kind: z.literal('faults'),
    ...common,
    ...run,
    /** Names of the devices that fail. */
    of: z.array(z.string().min(1).max(40)).min(1).max(4),
    /** So many events of each kind. */
    events: z.int().min(1).max(50),
  }),
  /** A text file of the student's names a seed with which the program fails on the starter. */
  z.strictObject({ kind: z.literal('seed'), ...common, ...run, file: fileName }),
  /** A text file of the student's has `KEY: VALUE` lines; each right one is a part. */
  z.strictObject({
    kind: z.literal('answers'),
    ...common,
    file: fileName,
    answers: z.record(z.string().regex(/^[a-z][a-z-]*$/), z.string().max(300)),
  }),
  /** Of each file: width of lines, length of functions. */
  z.strictObject({
    kind: z.literal('style'),
    ...common,
    files: z.array(fileName).min(1).max(16),
    columns: z.int().min(40).max(200),
    lines: z.int().min(5).max(500),
  }),
]);

export const labManifest = z.strictObject({
  format: z.literal('kcovbox lab'),
  version: z.literal(1),
  title: z.string().min(1).max(80),
  /** Of work, as an estimate. */
  minutes: z.int().min(5).max(3000),
  /** Abilities of a student afterwards. */
  learns: z.array(z.string().min(1).max(120)).min(1).max(8),
  /** Of the kernel, as `linux+teach`. */
  conf: z.string().regex(/^[a-z-]+(?:\+[a-z-]+)*$/),
  /** Of each run. */
  budget,
  /** Folders of the kernel whose files are empty until the student writes there. */
  empty: z.array(below).max(4).optional(),
  /** Files of the lab that are compiled into its kernel. */
  given: z
    .array(z.strictObject({ file: below, place: below }))
    .max(8)
    .optional(),
  /** The student's files. One with a place is compiled into the kernel, there. */
  files: z
    .array(
      z.strictObject({
        name: fileName,
        place: below.optional(),
        /** A device of the board, which runs in the emulator: see `devices` of the checks. */
        device: z.literal(true).optional(),
        /** Only lines that are like this count, and they are added to the kernel's file. */
        adds: z.string().max(200).optional(),
      }),
    )
    .min(1)
    .max(16),
  checks: z.array(labCheck).min(1).max(60),
});

export type LabManifest = z.infer<typeof labManifest>;
export type LabCheck = z.infer<typeof labCheck>;
export type CheckOf<K extends LabCheck['kind']> = Extract<LabCheck, { kind: K }>;

/** `error`: kcovbox could not judge, which is not the student's fault. */
export const STATUSES = ['pass', 'part', 'fail', 'budget', 'compile', 'skipped', 'error'] as const;
export type CheckStatus = (typeof STATUSES)[number];

const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const labScore = z.strictObject({
  format: z.literal('kcovbox lab score'),
  version: z.literal(1),
  /** Folder name of the lab, and the hash of its files. */
  lab: z.strictObject({ name: z.string(), sha256: hash }),
  /** Of the student's files. */
  submission: z.strictObject({ name: z.string(), sha256: hash }),
  points: z.int().min(0),
  of: z.int().min(1),
  status: z.enum(STATUSES),
  checks: z.array(
    z.strictObject({
      id,
      says: z.string(),
      status: z.enum(STATUSES),
      points: z.int().min(0),
      of: z.int().min(1),
      /** One line. */
      why: z.string(),
      /** File name of the recorded run of a failure. */
      capsule: z.string().optional(),
      /** Commands that show more. */
      try: z.array(z.string()).optional(),
      /** The lines of source that the failing run executed. */
      path: z.array(z.string()).optional(),
    }),
  ),
  /** Of everything above but `capsule`, `try` and `path`. */
  sha256: hash,
});

export type LabScore = z.infer<typeof labScore>;
export type CheckScore = LabScore['checks'][number];
