// Processes, threads, signals, memory, clocks: the guest's own test programs on our machine, with one hart and with four;
// how the machine ends; and how long booting takes.
import { beforeAll, describe, expect, it } from 'vitest';
import { hasGlibc, TOOLS, which } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && which(TOOLS.clang) !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('the core of the guest kernel', () => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel();
  });

  for (const name of ['processes', 'threads', 'signals', 'memory', 'clocks', 'events']) {
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

  it('no program leaves a page behind', async () => {
    const names = ['processes', 'events', 'memory'];
    const elves = await Promise.all(
      names.map(async name => [name, await program(`tests/${name}.c`)] as const),
    );
    const archive = initrd({ leaks: await program('tests/leaks.c'), ...Object.fromEntries(elves) });
    const end = run(elf, archive, `init=/leaks -- ${names.map(name => `/${name}`).join(' ')}`);
    expect(failures(end.text)).toEqual([]);
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

  it('a missing init is status 127 and one line', () => {
    const end = run(elf, initrd({}), 'init=/bin/none');
    expect(end.text).toBe('init: cannot execute /bin/none: error 2\n');
    expect(Number(end.status) & 0xff).toBe(127);
  });
});
