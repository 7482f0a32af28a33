// Capsules that anybody may have made: what is accepted is whole and says one thing, everything
// else is refused in one line that names what is wrong, in bounded time and memory.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it, test } from 'vitest';
import { Capsule, FormatError } from '../../run/capsule/index.ts';
import { MANIFEST, PARTS } from '../../run/capsule/parts.ts';
import { type Entry, pack, readZip, writeZip } from '../../run/capsule/zip.ts';
import { dose } from '../support/again.ts';
import { mutateCapsule, sealed, withManifest, withPart } from '../support/capsule-mutants.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { BOOT_SAMPLE, HOST, SAMPLE, sampleFile } from './sample.ts';

const FILE = sampleFile();
const BOOT = sampleFile(BOOT_SAMPLE);
/** The short dose; `npm run test:slow` replays mutants through the command. */
const MUTANTS = Number(process.env['KCOVBOX_MUTANTS'] ?? dose(600));
/** One more than the run of the sample has. */
const LINKS = Array.from({ length: 3 }, () => '0'.repeat(16));
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const verify = (file: Uint8Array): Capsule => {
  const capsule = Capsule.open(file, HOST);
  capsule.verify();
  return capsule;
};
const refusal = (file: Uint8Array): string => {
  try {
    verify(file);
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
  return 'accepted';
};

/** The manifest with one field replaced; undefined removes it. */
const changed = (file: Uint8Array, path: string, value: unknown): Uint8Array =>
  withManifest(file, manifest => {
    const keys = path.split('.');
    let at = manifest as Record<string, unknown>;
    for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>;
    if (value === undefined) delete at[keys.at(-1)!];
    else at[keys.at(-1)!] = value;
    return manifest;
  });

describe('a capsule', () => {
  it.each([
    ['of run', FILE, SAMPLE],
    ['of boot', BOOT, BOOT_SAMPLE],
  ])('%s is read as it was written', (_, file, contents) => {
    const capsule = verify(file);
    const { run, outcome } = capsule.manifest;
    expect({ run, outcome }).toEqual({ run: contents.run, outcome: contents.outcome });
    expect(capsule.journal().map(entry => ({ ...entry, bytes: [...entry.bytes] }))).toEqual(contents.journal);
    expect(Buffer.from(capsule.console())).toEqual(Buffer.from(contents.printed.text));
    for (const [name, bytes] of contents.images)
      expect(Buffer.from(capsule.read(name)).equals(Buffer.from(bytes as Uint8Array))).toBe(true);
  });

  it.each([
    ['append', { append: 'a'.repeat(70_000) }],
    ['budget', { budget: 0 }],
  ])('that its own reader would refuse for %s is not written', (field, change) => {
    const run = { ...BOOT_SAMPLE.run, ...change } as typeof BOOT_SAMPLE.run;
    expect(() => sampleFile({ ...BOOT_SAMPLE, run })).toThrow(
      new RegExp(`^cannot hold the run: run\\.${field}: `),
    );
  });

  it('of boot has every date and every address of RAM', () => {
    const changes: [string, unknown][] = [
      ['run.machine.rtcBase', String(BigInt(Date.parse('9999-12-31T23:59:59Z')) * 1_000_000n)],
      ['run.images.loads.0.at', 0x1_5fff_fff8],
    ];
    for (const [path, value] of changes) expect(refusal(changed(BOOT, path, value))).toBe('accepted');
  });

  it('made thin is the one that is written thin', () => {
    const names = new Set(SAMPLE.images.keys());
    const thin = Capsule.open(FILE, HOST).without(names);
    const absent = [...SAMPLE.images].map(([name, bytes]): [string, { bytes: number; sha256: string }] => {
      const contents = bytes as Uint8Array;
      return [name, { bytes: contents.length, sha256: HOST.sha256(contents) }];
    });
    expect(Buffer.from(thin).equals(Buffer.from(sampleFile({ ...SAMPLE, images: new Map(absent) })))).toBe(
      true,
    );
    expect(verify(thin).part('kernel.bin')?.isPresent).toBe(false);
    expect(() => verify(thin).read('kernel.bin')).toThrow('kernel.bin is not in it');
  });

  it('made whole again is the one that was made thin', () => {
    const images = new Map([...SAMPLE.images].map(([name, bytes]) => [name, bytes as Uint8Array]));
    const thin = Capsule.open(FILE, HOST).without(new Set(images.keys()));
    expect(Buffer.compare(Capsule.open(thin, HOST).with(images), FILE)).toBe(0);
    // One that is there stays.
    const half = Capsule.open(FILE, HOST).without(new Set(['kernel.bin']));
    expect(Buffer.compare(Capsule.open(half, HOST).with(images), FILE)).toBe(0);
  });

  it('whose console is longer than what is kept has its hash all the same', () => {
    const kept = new Uint8Array(2 ** 20 + 5).fill(97);
    const printed = { text: kept, bytes: 2 ** 30 };
    expect(verify(sampleFile({ ...SAMPLE, printed })).console().length).toBe(2 ** 20);
  });

  it('with more input than can be read is not written', () => {
    const journal = new Array(1_000_001).fill({ at: 1, port: 'break', bytes: [] });
    expect(() => sampleFile({ ...SAMPLE, journal })).toThrow(/cannot hold 1000001 arrivals/);
  });
});

describe('a manifest', () => {
  const REFUSED: [string, unknown, RegExp][] = [
    ['format', 'kcovbox run', /^is not a capsule/],
    ['version', 0, /^has version 0 of the format; this kcovbox reads versions 1 and 2$/],
    ['version', 3, /^has version 3 of the format; this kcovbox reads versions 1 and 2$/],
    ['version', '1', /^has version unknown/],
    ['version', 1, /^is damaged: version 1 of the format has no seal$/],
    ['options', { result: '/etc/passwd' }, /"options"/],
    ['kcovbox', '\u001b[2J', /kcovbox/],
    ['stateHash', 7, /stateHash/],
    ['run.cover', 'x.html', /"cover"/],
    ['run.program.path', '/bin/sh', /run\.program: .*"path"/],
    ['run.images.kernel.path', '/dev/zero', /run\.images\.kernel: .*"path"/],
    ['run.images.initrd', '../../../etc/passwd', /run\.images\.initrd/],
    ['run.images.initrd', 'ab'.repeat(32), /run\.images and parts do not name the same images/],
    ['run.kernel.conf', '../../evil', /run\.kernel\.conf/],
    ['run.kernel.conf', 'linux CC=evil', /run\.kernel\.conf/],
    ['run.kernel.conf', 'kasan+ubsan', /run\.kernel\.conf: expected a configuration of/],
    ['run.kernel.conf', 'openbsd+linux', /run\.kernel\.conf: expected a configuration of/],
    ['run.kernel.append', 'x'.repeat(1 << 17), /run\.kernel\.append/],
    ['run.machine.seed', 'zz', /run\.machine\.seed/],
    ['run.machine.seed', '0x1ffffffffffffffff', /run\.machine\.seed/],
    ['run.machine.harts', 0, /run\.machine\.harts/],
    ['run.machine.harts', 1.5, /run\.machine\.harts/],
    ['run.machine.memory', 2 ** 40, /run\.machine\.memory/],
    ['run.machine.memory', 2 ** 24 + 1, /run\.machine\.memory/],
    ['run.machine.kcov', 'evil', /run\.machine\.kcov/],
    ['run.machine.extensions', undefined, /run\.machine\.extensions/],
    ['run.machine.extensions', ['zicond', 'h'], /run\.machine\.extensions\.1/],
    ['run.machine.extensions', Array(100).fill('zba'), /run\.machine\.extensions/],
    ['run.machine.icountShift', undefined, /run\.machine\.icountShift/],
    ['run.machine.icountShift', 0.5, /run\.machine\.icountShift/],
    ['run.input.rule', 'other', /run\.input\.rule/],
    ['run.input.endAt', -1, /run\.input\.endAt/],
    ['run.input.bytes', 3, /run\.input does not describe the input/],
    ['run.input.kind', 'stream', /run\.input does not describe the input/],
    ['run.input.sha256', 'ab'.repeat(32), /run\.input\.sha256 is not that of input\.bin/],
    ['run.input.journal', 'ab'.repeat(32), /run\.input does not describe the input/],
    ['run.budget', 0.5, /run\.budget/],
    ['run.budget', '7', /run\.budget/],
    ['run.machine.devices', [], /journal\.jsonl: line 2: port: the machine has no virtio console/],
    ['outcome.end', 'crash', /outcome\.end/],
    ['outcome.time', 1e300, /outcome\.time/],
    ['outcome.time', 1998, /journal\.jsonl: line 3: at: 1999 is after the end/],
    ['outcome.status', 256, /outcome\.status/],
    ['outcome.instret', undefined, /outcome\.instret/],
    ['outcome.runHash.interval', 0, /outcome\.runHash\.interval/],
    ['outcome.runHash.interval', 500, /outcome\.runHash\.links: 2 do not fit 1000 instructions/],
    ['outcome.runHash.links', LINKS.slice(0, 1), /outcome\.runHash\.links/],
    ['outcome.runHash.links', LINKS, /links: 3 do not fit 1000 instructions in 2000 units of time/],
    ['outcome.runHash.links.0', 'x', /outcome\.runHash\.links\.0/],
    ['outcome.consoleHash', 'ab'.repeat(32), /console\.txt does not have the hash of the console/],
    ['console.bytes', 7, /console\.txt has more than was printed/],
    ['parts', {}, /parts: /],
    ['parts', [], /the manifest does not name|run\.images and parts/],
    ['parts.0.name', '../../evil', /parts: "\.\.\/\.\.\/evil" is in no place/],
    ['parts.1.name', 'console.txt', /parts: "console\.txt" is in no place of the list/],
    ['parts.0.bytes', 99, /console\.txt is not there as the manifest says/],
    ['parts.0.sha256', 'ab'.repeat(32), /console\.txt does not have the hash of the manifest/],
    ['parts.0.isPresent', false, /console\.txt is not there as the manifest says/],
    ['parts.3.isPresent', false, /kernel\.bin is not there as the manifest says/],
    ['parts.3.path', '/etc/passwd', /"path"/],
  ];
  it.each(REFUSED)('with %s = %j is refused', (path, value, message) => {
    expect(refusal(changed(FILE, path, value))).toMatch(message);
  });

  const BOOT_REFUSED: [string, unknown, RegExp][] = [
    ['run.machine.cpu', 'rv64 -o x', /run\.machine\.cpu/],
    ['run.machine.virtio.0.drive', 1, /a disk has a drive/],
    ['run.machine.virtio.0.drive', null, /a disk has a drive/],
    ['run.machine.virtio.1.drive', 0, /a disk has a drive/],
    ['run.machine.virtio.0.path', '/dev/sda', /"path"/],
    ['run.images.loads.0.at', -1, /run\.images\.loads\.0\.at/],
    ['run.images.loads', [], /do not name the same images/],
    ['run.images.bios', '/bin/sh', /run\.images\.bios/],
    ['run.machine.rtcBase', 'now', /run\.machine\.rtcBase/],
    ['run.format', 'kcovbox run', /run\./],
  ];
  it.each(BOOT_REFUSED)('of boot with %s = %j is refused', (path, value, message) => {
    expect(refusal(changed(BOOT, path, value))).toMatch(message);
  });

  it.each([null, 7, 'text', [], {}, true])('is not %j', value => {
    expect(refusal(withManifest(FILE, () => value))).toMatch(/^is not a capsule/);
  });

  it('names the first fault only, whatever their number', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, i]));
    expect(
      refusal(withManifest(FILE, manifest => ({ ...(manifest as object), ...many }))).length,
    ).toBeLessThan(250);
  });

  it.each([
    ['brackets', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['an object that has no text', '{"toString":1,"valueOf":1}'],
  ])('with a version of %s is refused', (_, version) => {
    const [, ...rest] = readZip(FILE, PARTS.length);
    const json = text(`{"format":"kcovbox capsule","version":${version}}`);
    expect(refusal(writeZip([pack(MANIFEST, json, true), ...rest]))).toMatch(
      /^has version unknown of the format; this kcovbox reads versions 1 and 2$/,
    );
  });

  it('of brackets is refused', () => {
    const [, ...rest] = readZip(FILE, PARTS.length);
    const deep = writeZip([pack(MANIFEST, text('['.repeat(3_000_000)), true), ...rest]);
    expect(refusal(deep)).toMatch(/manifest\.json is not JSON|is not a capsule/);
  });
});

describe('input', () => {
  it('of more than 64 MiB is refused before it is unpacked, and is not written', () => {
    const bytes = new Uint8Array(2 ** 26 + 1);
    expect(refusal(withPart(FILE, 'input.bin', bytes))).toMatch(
      /input\.bin has 67108865 bytes; at most 67108864 are possible$/,
    );
    const journal: typeof SAMPLE.journal = [{ at: 10, port: 'uart', bytes }];
    expect(() => sampleFile({ ...SAMPLE, journal })).toThrow(/^cannot hold input\.bin: it has 67108865/);
  });
});

describe('a journal', () => {
  const lines = (...entries: unknown[]): Uint8Array =>
    withPart(FILE, 'journal.jsonl', text(entries.map(entry => `${JSON.stringify(entry)}\n`).join('')));
  const two = { at: 10, port: 'uart', bytes: 2 };

  it.each<[string, unknown[], RegExp]>([
    ['null', [null], /line 1/],
    ['a fraction', [{ ...two, at: 0.5 }], /line 1: at/],
    ['a word', [{ ...two, at: '10' }], /line 1: at/],
    ['a time that is past', [two, { at: 9, port: 'break' }], /line 2: at: 9 is before/],
    ['a time behind the end', [{ ...two, at: 2001 }], /line 1: at: 2001 is after the end/],
    ['a port that is none', [{ ...two, port: 'disk' }], /line 1: port/],
    ['more bytes than there are', [{ ...two, bytes: 3 }], /line 1: bytes: input\.bin has no 3 more/],
    ['fewer bytes than there are', [{ ...two, bytes: 1 }], /it takes 1 of the 2 bytes/],
    ['a window of fractions', [{ at: 1, port: 'resize', rows: 1.5, cols: 1 }], /line 1: rows/],
    ['a break with bytes', [{ at: 1, port: 'break', bytes: 1 }], /line 1/],
    ['a path', [{ ...two, path: '/etc/passwd' }], /line 1: .*"path"/],
  ])('with %s is refused', (_, entries, message) => {
    expect(refusal(lines(...entries))).toMatch(message);
  });

  it('without line ends, of text, or of a million lines too many is refused', () => {
    expect(refusal(withPart(FILE, 'journal.jsonl', text('{"at":1,"port":"break"}')))).toMatch(/has no end/);
    expect(refusal(withPart(FILE, 'journal.jsonl', text('['.repeat(100_000))))).toMatch(/has no end/);
    expect(refusal(withPart(FILE, 'journal.jsonl', text('hello\n')))).toMatch(/line 1 is not JSON/);
    const many = text('{"at":1,"port":"break"}\n'.repeat(1_000_001));
    expect(refusal(withPart(FILE, 'journal.jsonl', many))).toMatch(/more than 1000000 lines/);
  });
});

describe('an archive', () => {
  const entries = (): Entry[] => readZip(FILE, PARTS.length);
  const swapped = (change: (all: Entry[]) => Entry[]): string => refusal(writeZip(change(entries())));

  it('of another DEFLATE stream with the same contents is refused', () => {
    const other = entries().map(entry =>
      entry.name === 'kernel.bin'
        ? { ...entry, packed: deflateRawSync(SAMPLE.images.get('kernel.bin') as Uint8Array, { level: 0 }) }
        : entry,
    );
    expect(refusal(writeZip(other))).toMatch(/its bytes do not have the hash of its seal$/);
    expect(refusal(sealed(other))).toBe('accepted');
  });

  it('with a manifest that is compressed, spaced otherwise or unsealed is refused', () => {
    const [first, ...rest] = entries();
    const manifest = (json: string, isPlain = true): string =>
      refusal(writeZip([pack(MANIFEST, text(json), isPlain), ...rest]));
    const json = new TextDecoder().decode(first!.packed);
    expect(manifest(json)).toBe('accepted');
    expect(manifest(json, false)).toMatch(/manifest\.json is compressed$/);
    expect(manifest(`${json}\n`)).toMatch(/manifest\.json is not written as kcovbox writes it$/);
    expect(manifest(json.replace(/"seal": "\w+"/, `"seal": "${'0'.repeat(64)}"`))).toMatch(/its seal$/);
    expect(manifest(json.replace(/ "seal": "\w+",\n/, ''))).toMatch(/version 2 of the format has a seal$/);
  });

  it('of another kind is named', () => {
    expect(refusal(text(''))).toMatch(/^is not a capsule/);
    expect(refusal(text('{"format":"kcovbox recording","version":2}'))).toMatch(
      /^is JSON, as recordings were before capsules: record the run again$/,
    );
    expect(refusal(text('PK\u0003\u0004'))).toMatch(/its end is missing/);
    expect(refusal(writeZip([pack('word/document.xml', text('<x/>'))]))).toMatch(/no part is called/);
    expect(refusal(writeZip([]))).toMatch(/it does not begin with manifest\.json/);
  });

  it('with names that are twice there, foreign or in another order is refused', () => {
    expect(swapped(all => [...all, all.at(-1)!])).toMatch(/initrd\.bin is there twice/);
    expect(swapped(all => [all[0]!, all[2]!, all[1]!, ...all.slice(3)])).toMatch(
      /is there twice, or in another/,
    );
    for (const name of ['../evil', '/etc/passwd', 'kernel.bin\0', 'KERNEL.BIN', '', 'a/b'])
      expect(swapped(all => [...all.slice(0, -1), { ...all.at(-1)!, name }])).toMatch(/no part is called/);
    expect(swapped(all => all.slice(0, -1))).toMatch(/initrd\.bin is not there as the manifest says/);
    expect(swapped(all => [...all, pack('bios.bin', text('x'))])).toMatch(/does not name bios\.bin/);
  });

  it('with lengths that are not true is refused before it is unpacked', () => {
    const lie = (size: number): string =>
      swapped(all => all.map(entry => (entry.name === 'kernel.bin' ? { ...entry, size } : entry)));
    expect(lie(601)).toMatch(/kernel\.bin is not there as the manifest says/);
    expect(lie(2 ** 31)).toMatch(/cannot hold/);
    const bomb = pack('kernel.bin', new Uint8Array(2 ** 24));
    expect(bomb.packed.length).toBeLessThan(20_000);
    // Twice what is in it is more than DEFLATE can make of it.
    const twice = { ...bomb, size: 2 ** 25 };
    expect(refusal(writeZip([...entries().slice(0, 4), twice]))).toMatch(/a part of \d+ bytes cannot hold/);
    const claim = { ...bomb, size: 2 ** 29, packed: new Uint8Array(2 ** 20) };
    const three = ['kernel.bin', 'initrd.bin', 'bios.bin'].map(name => ({ ...claim, name }));
    expect(refusal(writeZip([...entries().slice(0, 4), ...three]))).toMatch(
      /its parts have \d+ bytes; at most/,
    );
    const console = { ...claim, name: 'console.txt' };
    expect(refusal(writeZip([entries()[0]!, console]))).toMatch(/console\.txt has 536870912 bytes; at most/);
  });

  it('that unpacks to more than it says stops there', () => {
    const bomb = pack('kernel.bin', new Uint8Array(2 ** 24));
    const file = sealed([...entries().slice(0, 4), { ...bomb, size: 600 }, entries()[5]!]);
    expect(refusal(file)).toMatch(/kernel\.bin does not unpack to its 600 bytes/);
  });

  it('has no byte without a meaning', () => {
    // Every byte of the structure: changed, it is refused. (Contents are the search below.)
    const bytes = FILE.slice();
    const directory = new DataView(bytes.buffer).getUint32(bytes.length - 6, true);
    const accepted: number[] = [];
    for (let at = directory; at < bytes.length; at++)
      for (const bit of [1, 128]) {
        bytes[at]! ^= bit;
        if (refusal(bytes) === 'accepted') accepted.push(at);
        bytes[at]! ^= bit;
      }
    expect(accepted).toEqual([]);
    for (const at of [0, 1, FILE.length >> 1, FILE.length])
      expect(refusal(Uint8Array.from([...FILE.subarray(0, at), 0, ...FILE.subarray(at)]))).not.toBe(
        'accepted',
      );
  });
});

describe('at random', () => {
  it('a capsule is refused in one line, or whole', () => {
    const seed = seedFromEnvironment(0x5ec0de);
    const random = new Random(seed);
    let accepted = 0;
    for (let i = 0; i < MUTANTS; i++) {
      const mutant = mutateCapsule(random.oneIn(2) ? FILE : BOOT, random);
      try {
        const said = refusal(mutant);
        if (said === 'accepted') accepted++;
        else if (said.length > 300 || said.includes('\n')) throw new Error(`says ${said}`);
      } catch (error) {
        throw new Error(`seed ${seedText(seed)}, mutant ${i}`, { cause: error });
      }
    }
    expect(accepted).toBeGreaterThan(MUTANTS / 100); // mutants that reach the machine
    expect(accepted).toBeLessThan(MUTANTS / 2);
  });
});

describe('other tools', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-zip-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'a.kcapsule');
  writeFileSync(path, FILE);

  test.each([
    ['unzip', ['-o', '-q', path, '-d', join(dir, 'unzip')]],
    ['python3', ['-m', 'zipfile', '-e', path, join(dir, 'python3')]],
  ])('%s unpacks it to the same bytes', (tool, args) => {
    const { error, status } = spawnSync(tool, args);
    if (error) return console.warn(`skipped: ${tool} is not installed`);
    expect(status).toBe(0);
    for (const { name } of Capsule.open(FILE, HOST).manifest.parts)
      expect(
        readFileSync(join(dir, tool, name)).equals(Buffer.from(Capsule.open(FILE, HOST).read(name))),
      ).toBe(true);
    return undefined;
  });
});
