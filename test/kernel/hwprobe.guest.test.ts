// The guest kernel's information about the harts: riscv_hwprobe and /proc/cpuinfo against the
// machine's extensions.
import { describe, expect, it } from 'vitest';
import { isaString } from '../../emulator/isa/index.ts';
import { parseCpu } from '../../emulator/machine/cpu.ts';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

/** Bits of RISCV_HWPROBE_KEY_IMA_EXT_0 in Linux 6.12, by extension. */
const BITS: Readonly<Record<string, bigint>> = {
  zba: 3n,
  zbb: 4n,
  zbs: 5n,
  zicboz: 6n,
  zbc: 7n,
  zkt: 16n,
  zfhmin: 28n,
  zihintntl: 29n,
  zfa: 32n,
  zicond: 35n,
  zihintpause: 36n,
  zca: 43n,
  zcb: 44n,
  zcd: 45n,
};
const FD_C = 3n;

describe.skipIf(!ready)('riscv_hwprobe', () => {
  it.each(['rv64', 'rva22s64', 'max', 'rv64,zicboz=off,zba=off'])('-cpu %s', async cpu => {
    const isa = isaString(parseCpu(cpu));
    const bits = isa.split('_').reduce((all, name) => all | (name in BITS ? 1n << BITS[name]! : 0n), FD_C);
    const archive = initrd({ 'bin/hwprobe': await program('tests/hwprobe.c') });
    const end = run(await kernel(), archive, 'init=/bin/hwprobe', { cpu, harts: 2 });
    expect(failures(end.text)).toEqual([]);
    expect(end.status).toBe(0);
    expect(end.text).toContain(`ima_ext_0 ${bits.toString(16)}\n`);
    expect(end.text.match(/^isa\t\t: .*$/gm)).toEqual([`isa\t\t: ${isa}`, `isa\t\t: ${isa}`]);
  });
});
