// Snapshot files: what is written is read, in another machine and by the other engine; everything
// else is refused in one line. The search damages files: bytes of the archive, and values behind
// checksums that are right again. KCOVBOX_SEED, KCOVBOX_MUTANTS.

import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Machine, MIB, RAM_BASE, type Snapshot, stateHash } from '../../emulator/index.ts';
import { pack, readZip, unpack, writeZip } from '../../run/capsule/zip.ts';
import { readSnapshot } from '../../run/snapshot/read.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { HOST } from './sample.ts';
import {
  acceptedDamage,
  forgedOutcomes,
  fresh,
  outcome,
  PARTS_MAX,
  repacked,
  sealed,
  started,
  whole,
  write,
} from './snapshot-search.ts';

const SEED = seedFromEnvironment(0xf11e);
const CORRUPTIONS = Number(process.env['KCOVBOX_MUTANTS'] || 200);
const { inflate } = HOST;

const load = (file: Uint8Array, base?: Snapshot, machine = fresh()): Machine => {
  machine.load(readSnapshot(file, HOST, base).snapshot);
  return machine;
};

describe('a snapshot file', () => {
  test('restores the same state, now and after the next instructions, on the other engine', () => {
    const machine = started(5000);
    const file = write(machine.snapshot());
    const other = load(file, undefined, fresh({ engine: 'interp' }));
    expect(stateHash(other)).toBe(stateHash(machine));
    for (let i = 0; i < 3; i++) {
      machine.run(10_000);
      other.run(10_000);
      expect(stateHash(other)).toBe(stateHash(machine));
    }
    expect(other.journal.entries.map(({ bytes }) => [...bytes])).toEqual([[1, 2, 3]]);
  });

  test('may hold what changed since another one', () => {
    const machine = started(3000);
    const base = machine.snapshot();
    machine.run(4000);
    machine.ram.fill(RAM_BASE + [...base.pages.keys()][0]! * 4096, 4096, 0);
    const then = machine.snapshot();
    const file = write(then, base);
    expect(file.length).toBeLessThan(write(then).length);
    const read = readSnapshot(write(base), HOST).snapshot;
    expect(stateHash(load(file, read))).toBe(then.hash);
    expect(() => readSnapshot(file, HOST)).toThrow(/^changes the snapshot [0-9a-f]{16}; give that one too$/);
    expect(() => readSnapshot(file, HOST, then)).toThrow(/^changes the snapshot .*; the base given is /);
  });

  test('holds what the guest wrote to its disks, up to a limit', () => {
    const blank = (): Machine => fresh({ virtio: [{ kind: 'blk', slot: 0, image: new Uint8Array(9000) }] });
    const machine = blank();
    const before = machine.snapshot();
    const withBlocks = (blocks: unknown): Snapshot => {
      const virtio0 = { ...(before.rest.devices['virtio0'] as object), backend: blocks };
      return { ...before, rest: { ...before.rest, devices: { ...before.rest.devices, virtio0 } } };
    };
    const block = new Uint8Array(4096).fill(7);
    machine.restore(withBlocks([[1, block]]));
    const written = machine.snapshot();
    expect(written.hash).not.toBe(before.hash);
    expect(stateHash(load(write(written), undefined, blank()))).toBe(written.hash);
    expect(stateHash(load(write(written, before), before, blank()))).toBe(written.hash);
    blank().load(written);
    machine.restore(before);
    expect(stateHash(machine)).toBe(before.hash);
    const tooMany = withBlocks(Array.from({ length: 2 ** 14 + 1 }, (_, n) => [n, block]));
    expect(() => write(tooMany)).toThrow(/^the guest has written 67112960 bytes of its disks; a snapshot/);
    expect(() => blank().load(withBlocks([[3, block]]))).toThrow(/^the snapshot is damaged: block 3 of /);
    expect(() => blank().load(withBlocks([[1, null]]))).toThrow(/^the snapshot is damaged: virtio0/);
  });

  test.each<[string, object, RegExp]>([
    ['harts', { harts: 2 }, /^snapshot of 1 hart and \d+ bytes of ram does not fit a machine of 2 harts/],
    ['ram', { ramBytes: 4 * MIB }, /does not fit a machine of 1 hart and 4194304 bytes$/],
    ['extensions', { cpu: 'rva22s64' }, /^snapshot of rv64\S+ harts does not fit a machine of/],
    ['schedule', { schedSeed: 7n }, /another kind of schedule/],
    ['run hash', { runHash: 1000 }, /^the snapshot has no run hash/],
  ])('of another kind of machine is refused: %s', (_, options, message) => {
    const file = write(started(1000).snapshot());
    expect(() => load(file, undefined, fresh(options))).toThrow(message);
  });

  test('of another version is refused', () => {
    const edit = (change: (manifest: Record<string, unknown>) => void) => repacked('snapshot.json', change);
    expect(outcome(edit(m => void (m['version'] = 1)))).toMatch(/^has version 1; .* make it again$/);
    expect(outcome(edit(m => void (m['devices'] = { ...Object(m['devices']), uart: 9 })))).toMatch(
      /^snapshot with version 9 of the state of uart, 1 wanted$/,
    );
    expect(outcome(edit(m => void (m['hash'] = '0123456789abcdef')))).toMatch(
      /its state is .*, not 0123456789abcdef$/,
    );
    expect(outcome(edit(m => void (m['more'] = 1)))).toMatch(/"more"/);
  });
});

describe('a damaged snapshot file', () => {
  test('is refused wherever its bytes changed', () => {
    expect(acceptedDamage(SEED, CORRUPTIONS)).toEqual([]);
  });

  test('with another DEFLATE stream of the same contents is refused', () => {
    const other = readZip(whole, PARTS_MAX).map(entry =>
      entry.name === 'memory0.bin'
        ? { ...entry, packed: deflateRawSync(unpack(entry, inflate), { level: 0 }) }
        : entry,
    );
    expect(outcome(writeZip(other))).toMatch(/^is damaged: its bytes do not have the hash of its seal$/);
    expect(outcome(sealed(other))).toBe('accepted');
  });

  test('behind right checksums is refused, or a state like others', () => {
    const seen = forgedOutcomes(SEED, CORRUPTIONS);
    expect(seen).toContain('accepted');
    expect(seen.size).toBeGreaterThan(3);
  });

  test('with hostile registers is refused by name', () => {
    const entries = readZip(whole, PARTS_MAX);
    const messages = [0, 75, 76].map(word => {
      const parts = entries.map(entry => {
        if (entry.name !== 'harts.bin') return entry;
        const bytes = Uint8Array.from(unpack(entry, inflate)); // a Buffer may share memory
        new DataView(bytes.buffer).setInt32(4 * word, 0x7fff_ffff, true);
        return pack('harts.bin', bytes);
      });
      return outcome(sealed(parts));
    });
    for (const message of messages) expect(message).toMatch(/^the snapshot is damaged: /);
    expect(messages[0]).toMatch(/x0 is not zero/);
  });
});
