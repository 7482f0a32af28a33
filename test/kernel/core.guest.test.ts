// Processes, threads, signals, memory, clocks: the guest's own test programs on our machine, with
// one hart and with four; how the machine ends; and how long booting takes.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { encode, readElf } from '../../emulator/index.ts';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { boot, failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('the core of the guest kernel', () => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel();
  });

  const names = [
    'processes',
    'limits',
    'priorities',
    'threads',
    'signals',
    'memory',
    'clocks',
    'cpu-clocks',
    'events',
  ];
  for (const name of names) {
    it(`${name}: every test is ok, and twice the same run`, async () => {
      const archive = initrd({ [`bin/${name}`]: await program(`tests/${name}.c`) });
      const first = run(elf, archive, `init=/bin/${name}`);
      expect(failures(first.text)).toEqual([]);
      expect(first.status).toBe(0);
      expect(run(elf, archive, `init=/bin/${name}`)).toEqual(first);
    });

    it(`${name}: every test is ok with 4 harts`, async () => {
      const archive = initrd({ [`bin/${name}`]: await program(`tests/${name}.c`) });
      const end = run(elf, archive, `init=/bin/${name}`, { harts: 4 });
      expect(failures(end.text)).toEqual([]);
      expect(end.status).toBe(0);
    });
  }

  it.each(['rva22s64', 'max'])('processes: every test is ok with -cpu %s', async cpu => {
    const archive = initrd({ 'bin/processes': await program('tests/processes.c') });
    const end = run(elf, archive, 'init=/bin/processes', { cpu });
    expect(failures(end.text)).toEqual([]);
    expect(end.status).toBe(0);
  });

  it('10,000 random system calls leave the kernel alive', async () => {
    const archive = initrd({ 'bin/fuzz': await program('tests/fuzz.c') });
    const end = run(elf, archive, 'init=/bin/fuzz -- 10000 7');
    expect(end.text).toMatch(/^ok fuzz: 100\d\d calls/m);
    expect(end.status).toBe(0);
  });

  it('boots to a small program in fewer than 5 million instructions', async () => {
    const archive = initrd({ init: await program('tests/clocks.c') });
    const [, ticks] = /^boot: (\d+) ticks/m.exec(run(elf, archive, 'bootinfo').text) ?? [];
    expect(Number(ticks) * 100).toBeGreaterThan(0);
    expect(Number(ticks) * 100).toBeLessThan(5_000_000);
  });

  // OpenSBI before 1.2 lets a hart that is awake while it is started go where the boot hart went.
  it('a hart that the firmware starts at the wrong address finds its way', async () => {
    const archive = initrd({ init: await program('tests/clocks.c') });
    const { machine, text } = boot(elf, archive, 'bootinfo', { harts: 2 });
    const { symbols } = readElf(readFileSync(elf), elf);
    const at = (name: string) => Number(symbols.find(s => s.name === name)!.value & 0xffff_ffffn);
    const from = at('secondary_start');
    machine.ram.write32(from, encode('jal', { rd: 0, imm: at('_start') - from }));
    machine.run(10_000_000);
    expect(text()).toContain(' 2 harts');
  });

  it('a member of the archive whose name is too long is one line, and the rest is used', () => {
    const end = run(elf, initrd({ [`${'d'.repeat(300)}/file`]: new Uint8Array(1) }), 'init=/bin/none');
    expect(end.text).toMatch(
      /^initrd: can not unpack d{200,}.*\n?initrd: the archive is damaged.*\ninit: cannot/,
    );
    expect(Number(end.status) & 0xff).toBe(127);
  });

  it('a missing init is status 127 and one line', () => {
    const end = run(elf, initrd({}), 'init=/bin/none');
    expect(end.text).toBe('init: cannot execute /bin/none: error 2\n');
    expect(Number(end.status) & 0xff).toBe(127);
  });
});
