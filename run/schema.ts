// The run description and the files around it, as schemas: docs/schemas/ holds them as JSON Schema,
// the types below are inferred from them, and every file that is read is checked against them. A
// description determines a run: with its images, every execution has the same instructions, console
// and coverage, on any engine. So it contains hashes, numbers and words for the guest, and nothing
// about the host: no path, no program, no output.
import * as z from 'zod';
import { VIRTIO_KINDS } from '../emulator/index.ts';
import { LOADS_MAX, SLOTS } from './capsule/limits.ts';
import { HAD_BY_ALL, LISTED } from './extensions.ts';
import { scheduleName } from './schedule-name.ts';

/** Longest kernel command line and longest argument list, in characters. */
export const APPEND_MAX = 1 << 16;
const RAM_MIN = 16 * 2 ** 20;
const RAM_MAX = 2 ** 31;
const MIB = 2 ** 20;
/** Of QEMU's -icount shift. */
const ICOUNT_MAX = 10;

/** Personalities of the guest kernel; each is also a word of a configuration's name. */
export const PERSONALITIES = ['openbsd', 'netbsd', 'freebsd', 'linux'] as const;

export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const hash64 = z.string().regex(/^[0-9a-f]{16}$/);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const seed = z.string().regex(/^0x(0|[1-9a-f][0-9a-f]{0,15})$/);
const word = z.string().max(APPEND_MAX);

const image = z.strictObject({
  id: z
    .string()
    .regex(/^(sha256:[0-9a-f]{64}|build-id:[0-9a-f]{2,128})$/)
    .describe('the name that traces of this image carry'),
  sha256: sha256.describe('of the whole file'),
});

const device = z.strictObject({
  kind: z.literal('console'),
  rows: z.int().min(1).max(65535),
  cols: z.int().min(1).max(65535),
});

const ownDevice = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,23}$/),
  sha256: sha256.describe('of its file'),
  params: z.record(z.string().max(64), z.string().max(4096)).describe('that differ from the defaults'),
});

const input = z.strictObject({
  kind: z
    .enum(['none', 'stream', 'interactive'])
    .describe(
      'stream: of a file or a pipe, its arrival follows from the rule; interactive: stamped with the time of its arrival',
    ),
  bytes: count.describe('that were delivered'),
  sha256: sha256.describe('of these bytes'),
  rule: z
    .enum(['idle-64k', 'poll-64k'])
    .nullable()
    .describe(
      'stream: 65,536 bytes, or the rest, whenever the guest waits (docs/determinism.md); poll-64k: of boot, where polling is waiting too, and the end is a Ctrl-D among the bytes',
    ),
  endAt: count
    .nullable()
    .describe('stream: the end of the input was delivered behind so many bytes; null: it was not'),
  journal: sha256.nullable().describe('interactive: of the journal, times included'),
});

/** The run description. */
export const runDescription = z.strictObject({
  format: z.literal('kcovbox run'),
  version: z.literal(1),
  images: z.strictObject({ kernel: image, initrd: sha256, program: sha256 }),
  program: z.strictObject({
    name: z.string().regex(/^[\x21-\x7e]{1,255}$/),
    argv: z.array(word).min(1).max(4096),
    environment: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), word),
    cflags: z.array(word).max(4096).describe('flags of the user, where the program was compiled'),
    trace: z
      .literal(true)
      .optional()
      .describe('kcov is compiled into it, as --trace does; earlier versions had a flag with a path'),
  }),
  kernel: z.strictObject({
    dialect: z.enum(PERSONALITIES),
    conf: z.string().regex(/^[a-z][a-z0-9-]*(\+[a-z][a-z0-9-]*){0,15}$/),
    append: word.describe('the kernel command line of the device tree'),
    tail: word
      .optional()
      .describe(
        'its end, which the guest reads through fw_cfg behind its boot, as it does the initrd; absent: both are in RAM from the start',
      ),
  }),
  machine: z.strictObject({
    harts: z.int().min(1).max(8),
    extensions: z
      .array(z.enum(LISTED))
      .max(LISTED.length)
      .describe('optional extensions of the harts, sorted; docs/isa.md lists those that every hart has'),
    without: z
      .array(z.enum(HAD_BY_ALL))
      .max(HAD_BY_ALL.length)
      .optional()
      .describe('extensions that the harts lack and have otherwise, sorted'),
    memory: z.int().min(RAM_MIN).max(RAM_MAX).multipleOf(MIB).describe('bytes'),
    kcov: z.enum(['device', 'guest', 'off']),
    seed: seed.nullable(),
    schedSeed: seed.nullable(),
    schedule: scheduleName
      .optional()
      .describe('how schedSeed orders the harts, as --schedule takes it; absent: turns of random lengths'),
    icountShift: z.int().min(0).max(ICOUNT_MAX).describe("an instruction takes 2^N ns of the guest's time"),
    devices: z.array(device).max(1).describe('besides those that every board has'),
    own: z.array(ownDevice).max(8).optional().describe("devices of the user's own, in their order"),
    faults: z
      .array(z.string().regex(/^[a-z][a-z0-9_]{0,23}:[a-z-]+@\d{1,9}(=(\d{1,18}ns|0x[0-9a-f]{1,8}))?$/))
      .max(4096)
      .optional()
      .describe('faults of devices, as --fault takes them'),
    hostile: z
      .array(z.string().regex(/^[a-z][a-z0-9_]{0,23}:\d{1,10}(:misdirect)?$/))
      .max(64)
      .optional()
      .describe('devices that are hostile, as --hostile takes them'),
  }),
  budget: z.int().min(1).nullable().describe('instructions; null: none'),
  input,
});
export type RunDescription = z.infer<typeof runDescription>;

/** The chain of hashes of a run; see emulator/machine/run-hash.ts. */
export const runHash = z.strictObject({
  interval: z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe('units between two links'),
  links: z
    .array(hash64)
    .min(2)
    .describe('link k hashes link k - 1 and the state at unit k * interval; the last is of the end'),
});

const BOOT_RAM_MIN = 2 * MIB;
const BOOT_RAM_MAX = 3584 * MIB;
/** RAM begins at 2 GiB, and nothing is behind it. */
const PHYSICAL_MAX = 2 ** 31 + BOOT_RAM_MAX;
const PAGE = 4096;

/** The description of a run of `kcovbox boot`. */
export const bootDescription = z.strictObject({
  format: z.literal('kcovbox boot'),
  version: z.literal(1),
  images: z.strictObject({
    kernel: sha256.nullable(),
    initrd: sha256.nullable(),
    bios: z.union([z.enum(['default', 'none']), sha256]),
    dtb: sha256.nullable(),
    loads: z
      .array(
        z.strictObject({
          sha256,
          at: z.int().min(0).max(PHYSICAL_MAX).nullable().describe('null: the ELF file says where'),
          raw: z.boolean().describe('bytes as they are, also those of an ELF file'),
        }),
      )
      .max(LOADS_MAX),
    drives: z.array(sha256).max(SLOTS),
  }),
  append: word,
  machine: z.strictObject({
    harts: z.int().min(1).max(8),
    memory: z.int().min(BOOT_RAM_MIN).max(BOOT_RAM_MAX).multipleOf(PAGE).describe('bytes'),
    cpu: z
      .string()
      .regex(/^[\w=.,+-]{1,4096}$/)
      .describe('as -cpu'),
    kcov: z.enum(['device', 'guest', 'off']),
    seed: seed.nullable(),
    icountShift: z.int().min(0).max(ICOUNT_MAX).describe("an instruction takes 2^N ns of the guest's time"),
    rtcBase: z
      .string()
      .regex(/^\d{1,21}$/)
      .nullable()
      .describe('nanoseconds since 1970, to the end of 9999; null: 2026-01-01'),
    virtio: z
      .array(
        z.strictObject({
          kind: z.enum(VIRTIO_KINDS),
          slot: z
            .int()
            .min(0)
            .max(SLOTS - 1)
            .nullable()
            .describe('null: the highest free one'),
          drive: z
            .int()
            .min(0)
            .max(SLOTS - 1)
            .nullable()
            .describe('index in images.drives'),
          readOnly: z.boolean(),
        }),
      )
      .max(SLOTS),
    virtioLegacy: z.boolean(),
  }),
  noReboot: z.boolean().describe('a reboot ends the run'),
  budget: z.int().min(1).nullable().describe('instructions; null: none'),
  input,
});
export type BootDescription = z.infer<typeof bootDescription>;

/** The outcome of a run. */
export const runOutcome = z.strictObject({
  end: z.enum(['exit', 'panic', 'no-start', 'budget', 'halt', 'interrupted']),
  status: z.int().min(0).max(255).describe('exit status of the command'),
  instret: count.describe('instructions that retired'),
  time: count.describe('virtual time, in units of one instruction or exception'),
  stateHash: hash64.describe('of registers, memory and devices'),
  runHash: runHash.describe('where two runs that differ began to differ follows from it'),
  consoleHash: sha256.describe('hash of the output of the guest'),
  records: count.describe('coverage records, lost ones included'),
  violations: z
    .array(
      z.strictObject({
        device: z.string(),
        rule: z.string(),
        pc: z.string().nullable().describe('of the access; null: by DMA'),
        at: z.string().describe('functions, files and lines, innermost first'),
        times: count,
      }),
    )
    .optional()
    .describe('of the protocol rules of devices, by site in the driver'),
});
export type RunOutcome = z.infer<typeof runOutcome>;

/** The file of --result. */
export const runResult = z.strictObject({
  format: z.literal('kcovbox result'),
  version: z.literal(2),
  runId: sha256.describe('of the description as canonical JSON: equal runs have equal ids'),
  run: runDescription,
  outcome: runOutcome,
  host: z
    .strictObject({
      kcovbox: z.string(),
      node: z.string(),
      compiler: z.string().nullable(),
      engine: z.enum(['jit', 'interp', 'lockstep']),
    })
    .describe('facts that cannot change the run'),
});
export type RunResult = z.infer<typeof runResult>;
