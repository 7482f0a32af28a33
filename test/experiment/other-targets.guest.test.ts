// Experiments about kernels that are none of kcovbox: which keys go together, which files do, and
// what the folder has. The campaigns themselves are in fuzz-xv6.slow and fuzz-other.slow.
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Elf } from '../../coverage/index.ts';
import { findTool, sha256 } from '../../toolchain/index.ts';
import { isOneLine, kcovbox, kcovboxLines } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-other-targets-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** The header of an Image (Documentation/arch/riscv/boot-image-header.rst), with both magics. */
const HEADER = ['_start: j _start', '.org 48', '.quad 0x5643534952', '.word 0x05435352', '.org 64'];
const TARGET = [
  '--target=riscv64-unknown-elf',
  '-march=rv64gc',
  '-mabi=lp64d',
  '-mcmodel=medany',
  '-mno-relax',
];
const FREE = ['-g', '-O1', '-ffreestanding', '-nostdlib', '-fuse-ld=lld', '-fno-sanitize-link-runtime'];
const HOOKS = ['-fsanitize-coverage=trace-pc'];

/** A kernel at `base` with one hook, as an Image and a vmlinux: the two fit, and do nothing. */
function buildKernel(name: string, base: string, body = 'x + 1', hooks = HOOKS): void {
  const source = join(cwd, `${name}.c`);
  writeFileSync(
    source,
    `__asm__(".text\\n.globl _start\\n${HEADER.join('\\n')}");\n` +
      '__attribute__((no_sanitize("coverage"))) void __sanitizer_cov_trace_pc(void) {}\n' +
      `int f(int x) { return ${body}; }\n`,
  );
  const words = [...TARGET, ...FREE, ...hooks, `-Wl,-Ttext=${base}`, source, '-o', join(cwd, name)];
  expect(spawnSync(findTool('clang')!, words, { encoding: 'utf8' }).stderr).toBe('');
  const elf = new Elf(readFileSync(join(cwd, name)), name);
  writeFileSync(join(cwd, `${name}.Image`), elf.dataNamed('.text')!);
}

const BASE = '0xffffffff80000000';

beforeAll(() => {
  buildKernel('vmlinux', BASE);
  buildKernel('another', BASE, 'x * 3');
  buildKernel('elsewhere', '0x80200000');
  buildKernel('plain', BASE, 'x', []);
  writeFileSync(join(cwd, 'text'), 'no kernel\n');
  writeFileSync(join(cwd, 'large'), '');
  truncateSync(join(cwd, 'large'), 2 ** 29);
  mkdirSync(join(cwd, 'empty'));
});

const fileOf = (keys: string, more = ''): string =>
  `name: other\nfuzz:\n  ${keys}\nvariants: { a: {} }\ntrials: 10\nbudget: { executions: 64 }\n${more}`;

const LINUX = 'linux: vmlinux.Image\n  vmlinux: vmlinux';

/** Keys, the line of the file that the message names, and the message. */
const REFUSED: readonly (readonly [string, number, RegExp, string?])[] = [
  ['linux: vmlinux.Image', 3, /linux: an Image has no names of functions; give its vmlinux/],
  ['vmlinux: vmlinux', 3, /vmlinux: is for another Linux, and there is none/],
  ['linux: text\n  vmlinux: vmlinux', 3, /linux: text is not an Image of Linux for RISC-V/],
  ['linux: gone\n  vmlinux: vmlinux', 3, /linux: kernel gone: no such file/],
  ['linux: large\n  vmlinux: vmlinux', 3, /linux: kernel large is larger than 128 MiB/],
  ['linux: vmlinux.Image\n  vmlinux: text', 4, /vmlinux: text is not an ELF file/i],
  [
    'linux: vmlinux.Image\n  vmlinux: large',
    4,
    /vmlinux: large has 512 MiB, and the limit is 256 MiB; build/,
  ],
  ['linux: vmlinux.Image\n  vmlinux: another', 4, /another is not of the same build as the Image: section/],
  [
    'linux: elsewhere.Image\n  vmlinux: elsewhere',
    4,
    /section \.text is outside of the 32 MiB from 0xf{8}80{7} on/,
  ],
  [
    'linux: plain.Image\n  vmlinux: plain',
    4,
    /plain has no call of __sanitizer_cov_trace_pc: it was built without/,
  ],
  [`${LINUX}\n  conf: linux`, 5, /conf: is for the kernels of kcovbox, not for another Linux; omit one/],
  [`${LINUX}\n  schedule: rw`, 5, /schedule: is for the kernels of kcovbox/],
  [`${LINUX}\n  fail-nth: true`, 5, /fail-nth: is for the kernels of kcovbox/],
  [`${LINUX}\n  fault: [edu]`, 5, /fault: is for the kernels of kcovbox/],
  [`${LINUX}\n  driver: [d.c]`, 5, /driver: is for the kernels of kcovbox/],
  [`${LINUX}\n  xv6: empty`, 5, /xv6: is a target, and so is linux; omit one of the two/],
  ['xv6: empty\n  harness: f.c', 3, /xv6: is a target, and so is harness/],
  ['xv6: empty\n  append: quiet', 4, /append: is for a kernel with a command line, which xv6 is not/],
  ['xv6: empty\n  device: [d.ts]', 4, /device: is for the kernels of kcovbox, not for xv6/],
  ['xv6: empty\n  cflags: [-O2]', 4, /cflags: is for a harness, and there is none/],
  ['xv6: empty', 3, /xv6: the Makefile of empty is code that runs with your rights: set KCOVBOX_TRUST=1/],
  [
    LINUX,
    8,
    /canary: no variant has a kernel with historical bugs/,
    'bugs: { b: { canary: fget_unlocked } }\n',
  ],
  [LINUX, 8, /functions: the vmlinux has no function g with a point/, 'functions: [g]\n'],
];

test('keys and files that do not go together are refused in one line, with the place', () => {
  const lines = REFUSED.map(([keys, , , more], i) => {
    writeFileSync(join(cwd, `bad${i}.yaml`), fileOf(keys, more));
    return ['experiment', 'plan', `bad${i}.yaml`];
  });
  const ran = kcovboxLines(lines, { cwd });
  for (const [i, [, line, message]] of REFUSED.entries()) {
    const { status, stdout, stderr } = ran[i]!;
    expect([status, stdout]).toEqual([125, '']);
    expect(stderr).toSatisfy(isOneLine);
    expect(stderr).toMatch(new RegExp(`^kcovbox: bad${i}\\.yaml:${line}:\\d+: `));
    expect(stderr).toMatch(message);
  }
});

test('a folder that is no xv6 is refused behind the word of the user, too', () => {
  writeFileSync(join(cwd, 'empty.yaml'), fileOf('xv6: empty'));
  const ran = kcovbox(['experiment', 'plan', 'empty.yaml'], { cwd, env: { KCOVBOX_TRUST: '1' } });
  expect(ran.stderr).toMatch(/^kcovbox: empty\.yaml:3:3: xv6: empty is not a checkout of xv6-riscv/);
  expect(ran.stderr).toSatisfy(isOneLine);
});

test('the folder has Image and vmlinux; the plan follows from their bytes', () => {
  const planned = (name: string, keys: string) => {
    writeFileSync(join(cwd, `${name}.yaml`), fileOf(keys, 'functions: [f]\n'));
    const { status, stdout, stderr } = kcovbox(['experiment', 'plan', `${name}.yaml`], { cwd });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };
  const one = planned('one', LINUX);
  const image = readFileSync(join(cwd, 'vmlinux.Image'));
  expect(one).toMatch(new RegExp(`^ {2}a: linux ${sha256(image).slice(0, 16)}, 1 hart, 128 MiB$`, 'm'));
  const symbols = readFileSync(join(cwd, 'vmlinux'));
  const images = readdirSync(join(cwd, 'one.experiment', 'images'));
  expect(images).toEqual(expect.arrayContaining([sha256(image), sha256(symbols)]));
  const planOf = (text: string) => /^plan (\w{64})$/m.exec(text)![1];
  const two = planned('two', 'linux: another.Image\n  vmlinux: another');
  expect(planOf(two)).not.toBe(planOf(one));
  expect(planOf(planned('three', LINUX))).toBe(planOf(one));
});
