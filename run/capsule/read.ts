// Reads capsules that anybody may have made. The manifest is checked against its schema, every part
// against its hash, and the parts against one another; the first thing that is wrong is named.
// Nothing is unpacked before it is asked for.
import { canonicalJson } from '../canonical.ts';
import { FormatError } from '../format-error.ts';
import { type Arrival, describeInput, type Sha256 } from '../input.ts';
import { firstIssue } from '../issue.ts';
import { PERSONALITIES, type RunOutcome } from '../schema.ts';
import { readJournal } from './journal.ts';
import { MANIFEST, PARTS, partRow, TOTAL_MAX } from './parts.ts';
import {
  CAPSULE_VERSION,
  type CapsuleManifest,
  capsuleManifest,
  type Part,
  UNSEALED_VERSION,
} from './schema.ts';
import { checkSeal } from './seal.ts';
import { archive } from './write.ts';
import { type Entry, type Inflate, pack, readZip, unpack } from './zip.ts';

/** The interface to the host for reading. */
export interface CapsuleHost {
  readonly sha256: Sha256;
  readonly inflate: Inflate;
}

function damaged(why: string): never {
  throw new FormatError(`is damaged: ${why}`);
}

/** The images that a description names: the name of the part and its SHA-256. */
export function imagesOf({ run }: CapsuleManifest): [name: string, sha256: string][] {
  if (run.format === 'kcovbox run')
    return [
      ['kernel.bin', run.images.kernel.sha256],
      ['initrd.bin', run.images.initrd],
    ];
  const { kernel, initrd, bios, dtb, loads, drives } = run.images;
  const named: [string, string | null][] = [
    ['kernel.bin', kernel],
    ['initrd.bin', initrd],
    ['bios.bin', bios === 'default' || bios === 'none' ? null : bios],
    ['dtb.bin', dtb],
    ...loads.map(({ sha256 }, n): [string, string] => [`load${n}.bin`, sha256]),
    ...drives.map((sha256, n): [string, string] => [`drive${n}.bin`, sha256]),
  ];
  return named.filter((pair): pair is [string, string] => pair[1] !== null);
}

export class Capsule {
  readonly manifest: CapsuleManifest;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #host: CapsuleHost;

  private constructor(manifest: CapsuleManifest, entries: ReadonlyMap<string, Entry>, host: CapsuleHost) {
    this.manifest = manifest;
    this.#entries = entries;
    this.#host = host;
  }

  /**
   * Reads the directory and the manifest. Errors: FormatError, whose message is the rest of a
   * sentence that begins with the file's name.
   */
  static open(file: Uint8Array, host: CapsuleHost): Capsule {
    if (file[0] === 0x7b)
      throw new FormatError('is JSON, as recordings were before capsules: record the run again');
    if (file[0] !== 0x50 || file[1] !== 0x4b)
      throw new FormatError('is not a capsule; make one with --record');
    const entries = checkOrder(readZip(file, PARTS.length));
    const first = entries[0];
    if (first?.name !== MANIFEST)
      throw new FormatError(`is not a capsule: it does not begin with ${MANIFEST}`);
    const manifest = readManifest(unpack(first, host.inflate));
    checkParts(manifest, entries);
    checkRun(manifest);
    if (manifest.version !== UNSEALED_VERSION) checkSeal(file, first, host.sha256);
    return new Capsule(manifest, new Map(entries.map(entry => [entry.name, entry])), host);
  }

  /** The facts of a part; undefined: the run has none of that name. */
  part(name: string): Part | undefined {
    return this.manifest.parts.find(part => part.name === name);
  }

  /**
   * The contents of a part that is present. Errors: FormatError when they do not unpack, or are not
   * those that the manifest names.
   */
  read(name: string): Uint8Array {
    const entry = this.#entries.get(name);
    const part = this.part(name);
    if (!entry || !part) damaged(`${name} is not in it`);
    const bytes = unpack(entry, this.#host.inflate);
    if (this.#host.sha256(bytes) !== part.sha256) damaged(`${name} does not have the hash of the manifest`);
    return bytes;
  }

  /** The manifest as it is in the file. */
  get manifestBytes(): Uint8Array {
    return unpack(this.#entries.get(MANIFEST)!, this.#host.inflate);
  }

  /** The input with the times of its arrival; checked against the run description. */
  journal(): Arrival[] {
    const { run, outcome } = this.manifest;
    const hasConsole =
      run.format === 'kcovbox run'
        ? run.machine.devices.length > 0
        : run.machine.virtio.some(({ kind }) => kind === 'console');
    const limits = { end: outcome.time, hasConsole };
    const journal = readJournal(this.read('journal.jsonl'), this.read('input.bin'), limits);
    const wanted = describeInput(journal, run.input.rule ?? 'interactive', this.#host.sha256);
    if (canonicalJson(wanted) !== canonicalJson(run.input))
      damaged('run.input does not describe the input that is in it');
    return journal;
  }

  /** The guest's output: all of it, or as much as is kept. */
  console(): Uint8Array {
    const text = this.read('console.txt');
    const { bytes } = this.manifest.console;
    if (text.length > bytes) damaged('console.txt has more than was printed');
    if (text.length === bytes && this.#host.sha256(text) !== this.manifest.outcome.consoleHash)
      damaged('console.txt does not have the hash of the console');
    return text;
  }

  /** Reads and checks everything. */
  verify(): void {
    this.journal();
    this.console();
    for (const { name, isPresent } of this.manifest.parts) if (isPresent) this.read(name);
  }

  /** The same capsule without those images; the other parts keep their bytes. */
  without(names: ReadonlySet<string>): Uint8Array {
    const isLeftOut = (name: string): boolean => names.has(name) && partRow(name)?.isImage === true;
    const parts = this.manifest.parts.map(part =>
      isLeftOut(part.name) ? { ...part, isPresent: false } : part,
    );
    const entries = [...this.#entries.values()].filter(({ name }) => name !== MANIFEST && !isLeftOut(name));
    return archive({ ...this.manifest, parts }, entries, this.#host.sha256);
  }

  /** The same capsule with those of the images that it has not; they have the manifest's hashes. */
  with(images: ReadonlyMap<string, Uint8Array>): Uint8Array {
    const missing = this.manifest.parts.filter(({ name, isPresent }) => !isPresent && images.has(name));
    const parts = this.manifest.parts.map(part =>
      missing.includes(part) ? { ...part, isPresent: true } : part,
    );
    const added = missing.map(({ name }) => pack(name, images.get(name)!));
    const own = [...this.#entries.values()].filter(({ name }) => name !== MANIFEST);
    const entries = [...own, ...added].sort((a, b) => partRow(a.name)!.rank - partRow(b.name)!.rank);
    return archive({ ...this.manifest, parts }, entries, this.#host.sha256);
  }
}

/** Names are of the list, and in its order: so none is there twice. */
function checkOrder(entries: readonly Entry[]): readonly Entry[] {
  let last = -1;
  let total = 0;
  for (const { name, size } of entries) {
    const row = partRow(name);
    if (!row) damaged(`no part is called ${JSON.stringify(name)}`);
    if (row.rank <= last) damaged(`${name} is there twice, or in another place`);
    if (size > row.max) damaged(`${name} has ${size} bytes; at most ${row.max} are possible`);
    last = row.rank;
    total += size;
  }
  if (total > TOTAL_MAX) damaged(`its parts have ${total} bytes; at most ${TOTAL_MAX} are possible`);
  return entries;
}

function readManifest(bytes: Uint8Array): CapsuleManifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    damaged(`${MANIFEST} is not JSON`);
  }
  const { format, version } = Object(value) as { format?: unknown; version?: unknown };
  if (format !== 'kcovbox capsule') throw new FormatError('is not a capsule; make one with --record');
  if (version !== CAPSULE_VERSION && version !== UNSEALED_VERSION) {
    // The text of any other value may not exist: a tree may be too deep, an object without one.
    const named = typeof version === 'number' ? version : 'unknown';
    throw new FormatError(
      `has version ${named} of the format; this kcovbox reads versions ${UNSEALED_VERSION} and ${CAPSULE_VERSION}`,
    );
  }
  const manifest = capsuleManifest.safeParse(value);
  if (!manifest.success) damaged(firstIssue(manifest.error));
  if ((version === UNSEALED_VERSION) !== (manifest.data.seal === undefined))
    damaged(`version ${version} of the format has ${version === UNSEALED_VERSION ? 'no' : 'a'} seal`);
  return manifest.data;
}

/** The list of the manifest is what is there: in order, each once, present or a hash. */
function checkParts(manifest: CapsuleManifest, entries: readonly Entry[]): void {
  const sizes = new Map(entries.slice(1).map(({ name, size }) => [name, size]));
  let last = 0; // the manifest's own place
  for (const { name, bytes, isPresent } of manifest.parts) {
    const row = partRow(name);
    if (!row || row.rank <= last) damaged(`parts: ${JSON.stringify(name)} is in no place of the list`);
    last = row.rank;
    if (isPresent ? sizes.get(name) !== bytes : sizes.has(name) || !row.isImage)
      damaged(`parts: ${name} is not there as the manifest says`);
    sizes.delete(name);
  }
  for (const name of sizes.keys()) damaged(`the manifest does not name ${name}`);
  for (const name of ['console.txt', 'journal.jsonl', 'input.bin'])
    if (!manifest.parts.some(part => part.name === name)) damaged(`${name} is missing`);
}

/**
 * One link at power-on, one after every interval of executed units, one at the end. Every retired
 * instruction is a unit, and every unit takes one of time; waiting takes time without units.
 */
function checkChain({ instret, time, runHash: { interval, links } }: RunOutcome): void {
  const [least, most] = [instret, time].map(units => Math.floor(units / interval) + 2) as [number, number];
  if (links.length < least || links.length > most)
    damaged(
      `outcome.runHash.links: ${links.length} do not fit ${instret} instructions in ${time} units of time`,
    );
}

/** The description names the images that are listed, and says nothing that contradicts itself. */
function checkRun(manifest: CapsuleManifest): void {
  const { run, parts } = manifest;
  checkChain(manifest.outcome);
  const listed = parts.filter(({ name }) => partRow(name)?.isImage);
  const named = imagesOf(manifest);
  const isListed = ([name, sha256]: [string, string]): boolean =>
    listed.some(part => part.name === name && part.sha256 === sha256);
  if (named.length !== listed.length || !named.every(isListed))
    damaged('run.images and parts do not name the same images');
  const input = parts.find(({ name }) => name === 'input.bin');
  if (input?.sha256 !== run.input.sha256) damaged('run.input.sha256 is not that of input.bin');
  if (run.format === 'kcovbox run') {
    const { conf, dialect } = run.kernel;
    const words = PERSONALITIES.filter(name => conf.split('+').includes(name));
    if (words.length !== 1 || words[0] !== dialect)
      damaged(`run.kernel.conf: expected a configuration of ${dialect}`);
    return;
  }
  for (const { kind, drive } of run.machine.virtio)
    if ((kind === 'blk') !== (drive !== null) || (drive ?? -1) >= run.images.drives.length)
      damaged('run.machine.virtio: a disk has a drive, and nothing else has');
}
