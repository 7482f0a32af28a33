// States of a guest behind its boot. The kernel reads its program, the program's words and the
// initrd through fw_cfg, as the last thing of its boot (kernel/opt/fwcfg/program.c). In front of
// its first access to that device, a run depends on the kernel, the machine and the words of the
// device tree alone. So the state behind that access can be kept, and every run of that kind can go
// on from it. It is the same run: the same units, the same hash chain.
//
// A file is one line, then the contents twice: comparing them costs less than loading something
// that could hash. The contents are a line of JSON, then the pages of RAM that differ from those at
// power-on. Files travel in the package (dist/prebuilt/booted/), and are kept in the cache.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isaString, type Machine, type Snapshot } from '../emulator/index.ts';
import { canonicalJson } from '../run/canonical.ts';
import { WINDOW } from '../run/feed.ts';
import { cacheDir, keepNewest, markUsed, nameOfKey, packageRoot, writeWhole } from '../toolchain/index.ts';
import type { GuestImages } from './guest.ts';
import { readIfThere } from './input.ts';
import type { MachineChoice } from './machine.ts';

/** Hash of the emulator's sources, from the bundler; there is none in tests of modules. */
declare const KCOVBOX_EMULATOR: string;
const EMULATOR = typeof KCOVBOX_EMULATOR === 'string' ? KCOVBOX_EMULATOR : undefined;

const HEAD = 'kcovbox booted 1\n';
const LF = 10;
const PAGE = 4096;
/** Files that the cache keeps: the ones that were used last. */
const KEPT = 16;
/** Larger states are not kept: a boot that prints or stores so much is no usual one. */
const PAGES_MAX = 4096;
const CONSOLE_MAX = 1 << 16;

/** A state behind the boot, and what was printed before it. */
export interface Booted {
  readonly state: Parameters<Machine['resume']>[0];
  readonly console: Uint8Array;
}

interface Header {
  readonly key: string;
  readonly isa: string;
  readonly ramBytes: number;
  readonly harts: readonly (readonly number[])[];
  readonly rest: Snapshot['rest'];
  readonly versions: Snapshot['versions'];
  readonly records: number;
  readonly pages: readonly number[];
  readonly console: string;
}

/**
 * Everything on which a boot depends; undefined where it is not kept: of kernels that get their
 * program otherwise or may change, and of runs with seeds, devices or faults, which are used once.
 */
export function bootKey(images: GuestImages, choice: MachineChoice): string | undefined {
  const { seed, schedSeed, schedule, devices = [], faults = [], hostile = [] } = choice;
  const isUsual = devices.length + faults.length + hostile.length === 0 && schedule === undefined;
  const { tail, kernelHash, append, size } = images;
  if (EMULATOR === undefined || tail === undefined || kernelHash === undefined) return undefined;
  if (seed !== undefined || schedSeed !== undefined || !isUsual) return undefined;
  return canonicalJson({
    emulator: EMULATOR,
    kernel: kernelHash,
    append,
    size: size ?? null,
    harts: choice.smp,
    isa: isaString(choice.cpu),
    memory: choice.memory,
    kcov: choice.kcov,
    icount: choice.icount,
  });
}

const packaged = (): string => join(packageRoot(), 'dist', 'prebuilt', 'booted');
const kept = (): string => join(cacheDir(), 'booted');
const nameOf = (key: string): string => `booted-${nameOfKey(key).slice(0, 16)}`;

/** Contents of a whole file; undefined for anything else. */
function contents(file: Buffer): Buffer | undefined {
  const bytes = (file.length - HEAD.length) / 2;
  const first = file.subarray(HEAD.length, HEAD.length + bytes);
  const isWhole = file.toString('latin1', 0, HEAD.length) === HEAD && Number.isInteger(bytes);
  return isWhole && first.equals(file.subarray(HEAD.length + bytes)) ? first : undefined;
}

function parse(bytes: Buffer, key: string): Booted | undefined {
  const end = bytes.indexOf(LF);
  const header = JSON.parse(bytes.toString('latin1', 0, end)) as Header;
  if (header.key !== key) return undefined;
  const page = (i: number): Uint8Array => bytes.subarray(end + 1 + i * PAGE, end + 1 + (i + 1) * PAGE);
  const { isa, ramBytes, rest, versions, records } = header;
  const harts = header.harts.map(words => Int32Array.from(words));
  const pages = new Map(header.pages.map((number, i) => [number, page(i)]));
  return {
    state: { isa, ramBytes, rest, versions, records, harts, pages },
    console: Buffer.from(header.console, 'latin1'),
  };
}

/**
 * The state behind the boot that `key` describes, if it is kept. `warn` takes a line about a file
 * that is damaged.
 */
export function findBooted(key: string, warn: (line: string) => void): Booted | undefined {
  for (const folder of [packaged(), kept()]) {
    const path = join(folder, nameOf(key));
    const file = readIfThere(path);
    if (!file) continue;
    try {
      const whole = contents(file);
      const booted = whole && parse(whole, key);
      if (folder === kept()) markUsed(path);
      if (booted) return booted;
      if (whole) continue; // another key has this name
    } catch {}
    warn(`the saved boot ${path} is damaged; it is made again`);
  }
  return undefined;
}

/**
 * Keeps the state of `now`. `before`: at power-on. Nothing happens where it cannot be written.
 */
export function keepBooted(key: string, before: Snapshot, now: Snapshot, console: Uint8Array): void {
  const pages = [...now.pages].filter(([page, bytes]) => !isSame(bytes, before.pages.get(page)));
  for (const page of before.pages.keys()) if (!now.pages.has(page)) pages.push([page, new Uint8Array(PAGE)]);
  // A feed that goes on from there begins with its first test.
  if (pages.length > PAGES_MAX || console.length > CONSOLE_MAX || now.rest.time >= WINDOW) return;
  const header: Header = {
    key,
    isa: now.isa,
    ramBytes: now.ramBytes,
    harts: now.harts.map(words => [...words]),
    rest: now.rest,
    versions: now.versions,
    records: now.observed.records,
    pages: pages.map(([page]) => page),
    console: Buffer.from(console).toString('latin1'),
  };
  const parts = [asciiLine(header), ...pages.map(([, bytes]) => bytes)];
  try {
    writeWhole(join(kept(), nameOf(key)), Buffer.concat([Buffer.from(HEAD), ...parts, ...parts]));
    keepNewest(kept(), /^booted-[0-9a-f]{16}$/, KEPT);
  } catch {} // the next run boots too
}

/** Forgets the state, where the cache has it. */
export const dropBooted = (key: string): void => rmSync(join(kept(), nameOf(key)), { force: true });

function asciiLine(header: Header): Buffer {
  const text = JSON.stringify(header).replace(
    /[^ -~]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(`${text}\n`, 'latin1');
}

const isSame = (a: Uint8Array, b: Uint8Array | undefined): boolean =>
  a === b || (b !== undefined && Buffer.from(a.buffer, a.byteOffset, a.length).equals(b));
