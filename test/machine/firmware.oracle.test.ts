// The state in which firmware starts a payload: every CSR that S-mode and U-mode can read, and the
// answers of the SBI. The built-in SBI against Debian's OpenSBI, on this machine and on QEMU. A
// difference that is meant has a row with its reason; a row that is not needed fails.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { csrNumbered, DEFAULT_EXTENSIONS, Machine, qemuCpu } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, S_BASE } from '../support/asm.ts';
import { findProgram, missing, withScratch } from '../support/tools.ts';

const QEMU = findProgram('qemu-system-riscv64');
const OPENSBI = '/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf';
const absent = [
  missing('clang and lld', ASSEMBLER),
  missing('qemu-system-riscv64', QEMU),
  missing('opensbi', existsSync(OPENSBI) ? OPENSBI : undefined),
].some(x => x);

/** CSRs below M, but for 0x800.. (custom) and the hypervisor's. */
const NUMBERS = [...Array(4096).keys()].filter(n => ((n >> 8) & 3) < 2);
/** Their values depend on when; only whether they can be read is compared. */
const isCounter = (n: number): boolean => n >= 0xc00 && n < 0xc20;

interface Call {
  readonly name: string;
  readonly extension: number;
  readonly fn: number;
  readonly args: readonly (number | bigint)[];
  /** Is a1 compared, too? */
  readonly value?: boolean;
}

const [BASE, TIME, IPI, RFENCE, HSM, SRST] = [
  0x10, 0x54494d45, 0x735049, 0x52464e43, 0x48534d, 0x53525354,
] as const;
const HIGH = 1n << 32n;
const call = (name: string, extension: number, fn: number, ...args: (number | bigint)[]): Call => ({
  name,
  extension,
  fn,
  args,
});
const valued = (c: Call): Call => ({ ...c, value: true });

/** Calls that return. Hart 1, where there is one, is stopped until the end. */
const CALLS: readonly Call[] = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, BASE, TIME, IPI, RFENCE, HSM, SRST, 0x999].map(id =>
    valued(call(`probe 0x${id.toString(16)}`, BASE, 3, id)),
  ),
  call('base, unknown function', BASE, 7),
  call('unknown extension', 0x999, 0),
  call('time, unknown function', TIME, 1),
  call('ipi to nobody', IPI, 0, 0, 0),
  call('ipi, unknown function', IPI, 1),
  call('ipi to a hart that does not exist', IPI, 0, 1, 60),
  call('fence.i everywhere', RFENCE, 0, 0, -1),
  call('sfence.vma here', RFENCE, 1, 1, 0, 0, 4096),
  call('sfence.vma, everything', RFENCE, 1, 0, -1, 0, -1),
  call('sfence.vma with asid', RFENCE, 2, 1, 0, 0, 4096, 5),
  call('rfence, unknown function', RFENCE, 99),
  valued(call('status of this hart', HSM, 2, 0)),
  valued(call('status of a stopped hart', HSM, 2, 1)),
  call('status of a hart that does not exist', HSM, 2, 77),
  call('start this hart', HSM, 0, 0, S_BASE, 0),
  call('start a hart that does not exist', HSM, 0, 77, S_BASE, 0),
  call('hsm, unknown function', HSM, 99),
  call('suspend, reserved', HSM, 3, 1),
  call('suspend, platform', HSM, 3, 0x1000_0000),
  call('suspend, reserved and not retentive', HSM, 3, 0x8000_0001),
  call('suspend, platform and not retentive', HSM, 3, 0x9000_0000),
  call('suspend, wide', HSM, 3, HIGH | 1n),
  call('reset, reserved type', SRST, 0, 3, 0),
  call('reset, vendor type', SRST, 0, 0xf000_0000, 0),
  call('reset, reserved reason', SRST, 0, 0, 2),
  call('reset, unknown function', SRST, 1, 0, 0),
];

/** Prints s0 as 16 digits and a line's end. */
const PRINT = 'mv a0, s0\njal print\n';

/** A payload that prints one line per CSR, per counter in U-mode, and per call. */
function payload(): { name: string; bytes: Uint8Array } {
  const read = (n: number): string =>
    `li s0, 0\ncsrr s0, ${n}\n${isCounter(n) ? 'snez s1, s11\nmv s0, s1\n' : ''}${PRINT}`;
  const asCall = ({ extension, fn, args, value }: Call): string =>
    [
      ...args.map((arg, i) => `li a${i}, ${arg}`),
      `li a7, ${extension}\nli a6, ${fn}\necall\nmv s0, a0\nmv s2, a1\n${PRINT}`,
      value ? `mv s0, s2\n${PRINT}` : '',
    ].join('\n');
  const source = `
    la sp, stack
    csrr s3, stvec
    la t0, trap
    csrw stvec, t0
    ${NUMBERS.map(n => `li s11, 0\n${n === 0x105 ? `mv s0, s3\n${PRINT}` : read(n)}`).join('\n')}
    ${CALLS.map(asCall).join('\n')}
    la t0, user
    csrw sepc, t0
    li t0, 0x100
    csrc sstatus, t0
    sret
  user:
    ${[...Array(32).keys()].map(n => `li s11, 0\ncsrr s0, ${0xc00 + n}\nsnez s0, s11\n${PRINT}`).join('\n')}
    li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
  1: j 1b

    .align 2
  trap:
    # An illegal instruction: its destination gets a mark, s11 says so, and execution goes on.
    li s11, 1
    li s0, -1
    csrr t0, sepc
    addi t0, t0, 4
    csrw sepc, t0
    sret
  print:
    li t2, 60
  1: srl t0, a0, t2
    andi t0, t0, 15
    li t1, 10
    blt t0, t1, 2f
    addi t0, t0, 39
  2: addi t0, t0, 48
    li t1, 0x10000000
  3: lbu t3, 5(t1)
    andi t3, t3, 0x20
    beqz t3, 3b
    sb t0, 0(t1)
    addi t2, t2, -4
    bgez t2, 1b
    li t0, 10
  4: lbu t3, 5(t1)
    andi t3, t3, 0x20
    beqz t3, 4b
    sb t0, 0(t1)
    ret
    .align 4
    .zero 64
  stack:`;
  return assemble(source, S_BASE);
}

const CPU = qemuCpu(DEFAULT_EXTENSIONS);

function here(
  kernel: { name: string; bytes: Uint8Array },
  bios: 'default' | 'opensbi',
  harts: number,
): string[] {
  let text = '';
  const machine = Machine.create({
    kernel,
    bios: bios === 'default' ? bios : { name: OPENSBI, bytes: new Uint8Array(readFileSync(OPENSBI)) },
    harts,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  });
  expect(machine.run(200_000_000)).toEqual({ kind: 'exit', status: 0 });
  return lines(text);
}

function onQemu(kernel: { name: string; bytes: Uint8Array }): string[] {
  return withScratch(directory => {
    const file = join(directory, 'payload.elf');
    writeFileSync(file, kernel.bytes);
    const options = ['-M', 'virt', '-cpu', CPU, '-display', 'none', '-monitor', 'none'];
    const run = spawnSync(QEMU!, [...options, '-serial', 'stdio', '-bios', OPENSBI, '-kernel', file], {
      timeout: 60_000,
      encoding: 'latin1',
    });
    expect(run.status, run.stderr).toBe(0);
    return lines(run.stdout);
  });
}

/** The payload's lines; OpenSBI's banner has no line of 16 digits. */
const lines = (text: string): string[] => text.split(/\r?\n/).filter(line => /^[0-9a-f]{16}$/.test(line));

const LABELS: readonly string[] = [
  ...NUMBERS.map(n => csrNumbered(n)?.name ?? `csr 0x${n.toString(16)}`),
  ...CALLS.flatMap(c => [c.name, ...(c.value ? [`${c.name}: value`] : [])]),
  ...[...Array(32).keys()].map(n => `${csrNumbered(0xc00 + n)!.name} in U-mode`),
];

interface Difference {
  readonly label: RegExp;
  readonly why: string;
}

/** Permitted differences between the built-in SBI and OpenSBI 1.1. */
const FIRMWARE: readonly Difference[] = [
  {
    label: /^(sip|stimecmp)$/,
    why: 'OpenSBI 1.1 leaves stimecmp 0, so a timer interrupt is pending; later versions write -1, as here',
  },
  {
    label: /^suspend, platform/,
    why: 'invalid parameter, as SBI 2.0 §9.4 says; OpenSBI 1.1 says not supported',
  },
];
/** Permitted differences between this machine and QEMU with the same OpenSBI. */
const HARDWARE: readonly Difference[] = [
  {
    label: /^sip$/,
    why: 'setting menvcfg.STCE makes STIP follow stimecmp; QEMU 7.2 waits for a write of stimecmp',
  },
];

function compare(ours: readonly string[], theirs: readonly string[], allowed: readonly Difference[]): void {
  expect(ours.length).toBe(LABELS.length);
  expect(theirs.length).toBe(LABELS.length);
  const differ = LABELS.flatMap((label, i) =>
    ours[i] === theirs[i] ? [] : [{ label, text: `${label}: ours ${ours[i]} theirs ${theirs[i]}` }],
  );
  const isAllowed = (label: string): boolean => allowed.some(rule => rule.label.test(label));
  expect(differ.filter(d => !isAllowed(d.label)).map(d => d.text)).toEqual([]);
  const unused = allowed.filter(rule => !differ.some(d => rule.label.test(d.label)));
  expect(unused.map(rule => rule.why)).toEqual([]);
}

describe.skipIf(absent)('a payload finds the same', () => {
  test('under the built-in SBI and under OpenSBI', () => {
    const kernel = payload();
    compare(here(kernel, 'default', 2), here(kernel, 'opensbi', 2), FIRMWARE);
  });

  // One hart: on QEMU either of two may win the race to boot.
  test('here and on QEMU, both under OpenSBI', () => {
    const kernel = payload();
    compare(here(kernel, 'opensbi', 1), onQemu(kernel), HARDWARE);
  });
});
