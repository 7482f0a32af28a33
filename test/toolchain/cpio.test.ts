// The archive as cpio(5) describes "newc", read back by a reader of its own.
import { expect, test } from 'vitest';
import { type CpioEntry, writeCpio } from '../../toolchain/index.ts';

interface Member {
  name: string;
  mode: number;
  data: Uint8Array;
  dataAt: number;
}

function read(archive: Uint8Array): Member[] {
  const text = (from: number, bytes: number): string =>
    Buffer.from(archive).toString('latin1', from, from + bytes);
  const members: Member[] = [];
  for (let at = 0; ; ) {
    expect(text(at, 6)).toBe('070701');
    const field = (i: number): number => Number.parseInt(text(at + 6 + 8 * i, 8), 16);
    const [mode, bytes, nameBytes] = [field(1), field(6), field(11)];
    const raw = text(at + 110, nameBytes);
    expect(raw.endsWith('\0')).toBe(true);
    const name = raw.slice(0, raw.indexOf('\0'));
    if (name === 'TRAILER!!!') return members;
    const dataAt = (at + 110 + nameBytes + 3) & ~3;
    members.push({ name, mode, data: archive.subarray(dataAt, dataAt + bytes), dataAt });
    at = (dataAt + bytes + 3) & ~3;
  }
}

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i * 7);

test('members come back with their modes and contents, folders before what is in them', () => {
  const entries: CpioEntry[] = [
    { path: 'bin/a', mode: 0o100755, data: bytes(1) },
    { path: 'bin/deep/er', mode: 0o100644, data: bytes(4097) },
    { path: 'empty', mode: 0o100600 },
  ];
  const members = read(writeCpio(entries));
  expect(members.map(m => m.name)).toEqual(['bin', 'bin/a', 'bin/deep', 'bin/deep/er', 'empty']);
  expect(members.map(m => m.mode)).toEqual([0o040755, 0o100755, 0o040755, 0o100644, 0o100600]);
  expect(members[1]!.data).toEqual(bytes(1));
  expect(members[3]!.data).toEqual(bytes(4097));
});

test('contents begin at multiples of eight, whatever the lengths of names and files before them', () => {
  for (let shift = 1; shift < 20; shift++) {
    const entries = [
      { path: 'x'.repeat(shift), mode: 0o100644, data: bytes(shift) },
      { path: 'second', mode: 0o100644, data: bytes(9) },
    ];
    for (const member of read(writeCpio(entries))) expect(member.dataAt % 8).toBe(0);
  }
});
