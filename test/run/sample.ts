// A capsule with every part, for tests that damage it.
import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { type CapsuleContents, type CapsuleHost, writeCapsule } from '../../run/capsule/index.ts';
import { type Arrival, describeInput } from '../../run/input.ts';
import type { RunOutcome } from '../../run/schema.ts';

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

export const HOST: CapsuleHost = {
  sha256,
  inflate(packed, size) {
    try {
      const bytes = inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
      return bytes.length === size ? bytes : undefined;
    } catch {
      return undefined;
    }
  },
};

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const KERNEL = text('kernel'.repeat(100));
const INITRD = text('initrd'.repeat(50));
const CONSOLE = text('2\nhello\n');
const JOURNAL: Arrival[] = [
  { at: 10, port: 'uart', bytes: [104, 105] },
  { at: 10, port: 'resize', bytes: [24, 0, 80, 0] },
  { at: 1999, port: 'break', bytes: [] },
];

const OUTCOME: RunOutcome = {
  end: 'exit',
  status: 5,
  instret: 1000,
  time: 2000,
  stateHash: '0123456789abcdef',
  runHash: { interval: 10_000_000, links: ['0123456789abcdef', 'fedcba9876543210'] },
  consoleHash: sha256(CONSOLE),
  records: 12,
};

export const SAMPLE: CapsuleContents = {
  kcovbox: '0.1.0',
  stateHash: 'state-1',
  run: {
    format: 'kcovbox run',
    version: 1,
    images: {
      kernel: { id: `sha256:${sha256('id')}`, sha256: sha256(KERNEL) },
      initrd: sha256(INITRD),
      program: sha256('program'),
    },
    program: { name: 'prog', argv: ['prog', '-v'], environment: { LANG: 'C' }, cflags: ['-O2'] },
    kernel: { dialect: 'linux', conf: 'linux+kasan', append: 'init=/bin/prog quiet -- -v' },
    machine: {
      harts: 2,
      extensions: ['svadu', 'zba', 'zicond'],
      memory: 256 * 2 ** 20,
      kcov: 'device',
      seed: '0x7',
      schedSeed: null,
      icountShift: 3,
      devices: [{ kind: 'console', rows: 24, cols: 80 }],
    },
    budget: null,
    input: describeInput(JOURNAL, 'interactive', sha256),
  },
  outcome: OUTCOME,
  journal: JOURNAL,
  printed: { text: CONSOLE, bytes: CONSOLE.length },
  images: new Map([
    ['kernel.bin', KERNEL],
    ['initrd.bin', INITRD],
  ]),
};

const LOAD = text('load');
const DRIVE = new Uint8Array(5000).fill(7);

/** The same for `kcovbox boot`. */
export const BOOT_SAMPLE: CapsuleContents = {
  ...SAMPLE,
  run: {
    format: 'kcovbox boot',
    version: 1,
    images: {
      kernel: sha256(KERNEL),
      initrd: null,
      bios: 'none',
      dtb: null,
      loads: [{ sha256: sha256(LOAD), at: 0x8040_0000, raw: true }],
      drives: [sha256(DRIVE)],
    },
    append: 'root=/dev/vda',
    machine: {
      harts: 1,
      memory: 2 ** 27,
      cpu: 'rv64,zbb=off',
      kcov: 'off',
      seed: null,
      icountShift: 0,
      rtcBase: '981173106000000000',
      virtio: [
        { kind: 'blk', slot: 0, drive: 0, readOnly: false },
        { kind: 'console', slot: null, drive: null, readOnly: false },
      ],
      virtioLegacy: true,
    },
    noReboot: true,
    budget: 5000,
    input: describeInput(JOURNAL, 'poll-64k', sha256),
  },
  images: new Map([
    ['kernel.bin', KERNEL],
    ['load0.bin', LOAD],
    ['drive0.bin', DRIVE],
  ]),
};

export const sampleFile = (contents: CapsuleContents = SAMPLE): Uint8Array => writeCapsule(contents, sha256);
