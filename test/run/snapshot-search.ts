// A snapshot file of a small machine, and searches that damage it: bytes of the archive, and values
// behind checksums, seals and hashes that are right again.

import { KcovboxError, Machine, MIB, type Snapshot } from '../../emulator/index.ts';
import { writeSealed } from '../../run/capsule/seal.ts';
import { type Entry, pack, readZip, unpack } from '../../run/capsule/zip.ts';
import { readSnapshot } from '../../run/snapshot/read.ts';
import { writeSnapshot } from '../../run/snapshot/write.ts';
import { mutateJson } from '../support/mutate.ts';
import { buildPrivileged } from '../support/privileged/image.ts';
import { privilegedProgram } from '../support/privileged/program.ts';
import { Random, seedText } from '../support/random.ts';
import { HOST } from './sample.ts';

const LABEL = { kcovbox: '0.0.0', of: null, console: null, hasCr: false, feed: null };
export const PARTS_MAX = 1000;

const { inflate, sha256 } = HOST;
export const write = (snapshot: Snapshot, base?: Snapshot): Uint8Array =>
  writeSnapshot(snapshot, LABEL, sha256, base);
const MANIFEST = 'snapshot.json';
const program = privilegedProgram(new Random(5), { steps: 80, rounds: 6, isPortable: false });
const kernel = { name: 'privileged.bin', bytes: buildPrivileged(program) };
export const fresh = (options = {}): Machine =>
  Machine.create({ kernel, bios: 'none', ramBytes: 2 * MIB, virtio: [{ kind: 'rng' }], ...options });

export function started(units: number): Machine {
  const machine = fresh();
  machine.run(units);
  machine.input([1, 2, 3]);
  return machine;
}

const target = fresh();

/** `isForged`: the forger has computed the hash of the state, too. */
function take(snapshot: Snapshot, isForged: boolean): string {
  target.reset();
  try {
    target.load(snapshot);
  } catch (error) {
    const hash = /its state is (\w+), not/.exec((error as Error).message)?.[1];
    if (!isForged || hash === undefined) throw error;
    target.reset();
    target.load({ ...snapshot, hash });
  }
  target.run(20_000);
  return 'accepted';
}

/** Of a mutated file: the line that refuses it, or `accepted` when a machine goes on with it. */
export function outcome(file: Uint8Array, isForged = false): string {
  try {
    return take(readSnapshot(file, HOST).snapshot, isForged);
  } catch (error) {
    if (error instanceof KcovboxError && !error.message.includes('\n')) return error.message;
    throw error;
  }
}

export const whole = write(started(5000).snapshot());

/** With the right seal. */
export function sealed([first, ...rest]: readonly Entry[]): Uint8Array {
  const manifest = JSON.parse(new TextDecoder().decode(first!.packed)) as object;
  return writeSealed(MANIFEST, manifest, rest, sha256);
}

/** The file with one of its JSON parts changed, and its checksums right. */
export function repacked(name: string, change: (value: Record<string, unknown>) => unknown): Uint8Array {
  const entries = readZip(whole, PARTS_MAX).map(entry => {
    if (entry.name !== name) return entry;
    const value = JSON.parse(new TextDecoder().decode(unpack(entry, inflate)));
    const changed = change(value) ?? value;
    return pack(name, new TextEncoder().encode(`${JSON.stringify(changed)}\n`), entry.method === 0);
  });
  return sealed(entries);
}

/** Flips bits, cuts, doubles or exchanges pieces. */
function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const file = Uint8Array.from(bytes);
  const at = random.below(file.length);
  switch (random.below(5)) {
    case 0:
      return file.subarray(0, at);
    case 1:
      return Uint8Array.from([...file.subarray(0, at), random.below(256), ...file.subarray(at)]);
    case 2: {
      file.copyWithin(random.below(file.length), at, at + 1 + random.below(64));
      return file;
    }
    default:
      for (let n = 1 + random.below(3); n > 0; n--) {
        const place = random.below(file.length);
        file[place]! ^= 1 << random.below(8);
      }
      return file;
  }
}

/** Damaged files that a machine takes over all the same. */
export function acceptedDamage(seed: number, count: number): string[] {
  const random = new Random(seed);
  const accepted: string[] = [];
  for (let i = 0; i < count; i++) {
    const file = damage(whole, random);
    if (Buffer.compare(file, whole) === 0) continue;
    if (outcome(file) === 'accepted') accepted.push(`corruption ${i} of ${seedText(seed)}`);
  }
  return accepted;
}

/** The beginnings of the answers to forged files. Errors: whatever is no refusal in one line. */
export function forgedOutcomes(seed: number, count: number): Set<string> {
  const random = new Random(seed);
  const seen = new Set<string>();
  for (let i = 0; i < count; i++) {
    const name = random.pick(['snapshot.json', 'state.json', 'state.json', 'seen.json']);
    const file = repacked(name, value => mutateJson(value, random));
    seen.add(outcome(file, true).slice(0, 30));
  }
  return seen;
}
