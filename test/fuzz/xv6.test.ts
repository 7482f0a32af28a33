// xv6 in the fuzzer, as far as no real tree is needed: titles of panics, trees that are none, the
// calls of a tree, the C program of a crash, and the room for it on the disk.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseProgram, programXv6C, titleOf } from '../../fuzz/index.ts';
import { loadDescriptions, xv6Texts } from '../../host/fuzz/descriptions.ts';
import { readXv6Tree, withRepro } from '../../toolchain/index.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-xv6-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const CALLS = ['fork 1', 'exit 2', 'pipe 4', 'write 16', 'sleep 13', 'trace 22'];

/** A folder with these files besides those that a tree must have. */
function tree(name: string, files: Readonly<Record<string, string>> = {}): string {
  const all = {
    Makefile: '',
    'kernel/syscall.c': '',
    'kernel/defs.h': '',
    'mkfs/mkfs.c': '',
    'kernel/syscall.h': CALLS.map(call => `#define SYS_${call}\n`).join(''),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(cwd, name, path)), { recursive: true });
    writeFileSync(join(cwd, name, path), text);
  }
  return join(cwd, name);
}

it.each([
  ['panic: init exiting', 'init: starting sh\npanic: init exiting\n'],
  ['panic: virtio_disk_intr status', 'abcpanic: virtio_disk_intr status\n'],
  ['panic: N unknown', 'panic: 0x12 unknown\n'],
  [
    'panic: kerneltrap at 0x80002f4c',
    'scause 0x000000000000000d\nsepc=0x0000000080002f4c stval=0x0000000000000008\npanic: kerneltrap\n',
  ],
  ['panic: kerneltrap', 'panic: kerneltrap\n'],
  ['kernel panic', ''],
])('%s', (title, console) => {
  expect(titleOf('panic', console, 'write')).toBe(title);
});

it('a program that prints the word, or is killed by a trap of its own, is no crash', () => {
  const text =
    'panic: no\nusertrap(): unexpected scause 0x000000000000000f pid=2\n            sepc=0x1 stval=0x0\n';
  expect(titleOf('ended', text, 'write')).toBeUndefined();
});

it.each([
  ['none', 'no such folder'],
  ['.', 'is not a checkout of xv6-riscv: it has no Makefile'],
])('refuses the folder %s', (name, why) => {
  expect(() => readXv6Tree(join(cwd, name))).toThrow(why);
});

it('reads the sources, and not what was built', () => {
  const products = [
    'kernel/log.o',
    'kernel/kernel',
    'user/_sh',
    'user/usys.S',
    'fs.img',
    'mkfs/mkfs',
    '.git/HEAD',
  ];
  const files = Object.fromEntries(
    [...products, 'kernel/log.c', 'kernel/kernel.ld', 'user/sh.c'].map(p => [p, 'x']),
  );
  expect([...readXv6Tree(tree('built', files)).keys()]).toEqual([
    ...[
      'Makefile',
      'kernel/defs.h',
      'kernel/kernel.ld',
      'kernel/log.c',
      'kernel/syscall.c',
      'kernel/syscall.h',
    ],
    ...['mkfs/mkfs.c', 'user/sh.c'],
  ]);
});

const descriptions = () => loadDescriptions(xv6Texts(tree('calls')));

it('has the calls of the tree with its numbers, described or not, but no others', () => {
  const { calls } = descriptions();
  const names = new Map(calls.map(({ name, number, args }) => [name, [number, args.length]]));
  expect(names.get('write$pipe')).toEqual([16, 3]);
  expect(names.get('sleep')).toEqual([13, 1]);
  expect(names.get('trace')).toEqual([22, 6]);
  expect(calls.find(({ name }) => name === 'fork')!.forks).toBe(true);
  for (const absent of ['exit', 'pause', 'open']) expect(names.has(absent), absent).toBe(false);
});

it('writes C for the user mode of xv6', () => {
  const text = 'pipe(&{>r0, >r1})\nwrite(r1, &"abc", 0x3)\nr2 = fork()\n';
  const c = programXv6C(parseProgram(text, descriptions()), 'panic: */ x');
  expect(c).toContain('panic: * / x');
  expect(c).toContain('v = call(4, 0x1000, 0x0,');
  expect(c).toContain('v = call(16, r[0], 0x1010, 0x3,');
  expect(c).toContain('v = call_forks(1, 0x0,');
});

it('puts a program into the room for it, and nowhere else', () => {
  const block = (n: number): Buffer => {
    const bytes = Buffer.alloc(1024);
    bytes.write(`kcovbox: room for /repro, block ${n}\n`);
    return bytes;
  };
  const other = Buffer.alloc(1024, 0xee);
  // As on a disk: a block of pointers is between two blocks of the file.
  const blocks = [
    other,
    ...Array.from({ length: 64 }, (_, n) => (n === 12 ? [other, block(n)] : [block(n)])).flat(),
  ];
  const program = Uint8Array.from({ length: 13 * 1024 + 5 }, (_, i) => 1 + (i % 250));
  const disk = Buffer.from(withRepro(Buffer.concat(blocks), program));
  const of = (from: number, to: number): Buffer => disk.subarray(from * 1024, to * 1024);
  expect(of(0, 1).equals(other)).toBe(true);
  expect(of(13, 14).equals(other)).toBe(true);
  const file = Buffer.concat([of(1, 13), of(14, 66)]);
  expect(file.subarray(0, program.length).equals(program)).toBe(true);
  expect(file.subarray(program.length).every(byte => byte === 0)).toBe(true);
  expect(() => withRepro(other, program)).toThrow('has no room for /repro');
  expect(() => withRepro(disk, new Uint8Array(65 * 1024))).toThrow('66560 bytes');
});
