// The checkers of the debug, kasan and ubsan kernels: each bug of /dev/provoke is reported by name,
// and the ordinary test programs run without a report. KCOVBOX_FUZZ_CALLS=10000000 makes the random
// system calls as many, KCOVBOX_FUZZ_SEED others.
import { beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS, findTool, hasGlibc } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const CALLS = Number(process.env.KCOVBOX_FUZZ_CALLS ?? 20_000);
const SEED = process.env.KCOVBOX_FUZZ_SEED ?? '3';
const REPORT = /BUG:|UBSAN:|reversal|poisoning|panic/;

/** Configuration, bug, what the console says, and whether it is the end. */
const BUGS: readonly [string, string, RegExp, 'panics' | 'goes on'][] = [
  ['openbsd+debug', 'panic', /panic: .*: provoked\n(.*\n)*.*\] provoke_write\+/, 'panics'],
  ['openbsd+debug', 'null', /store page fault in the kernel: address 0x0/, 'panics'],
  ['openbsd+debug', 'write-text', /store page fault in the kernel/, 'panics'],
  ['openbsd+debug', 'exec-data', /instruction page fault in the kernel/, 'panics'],
  [
    'openbsd+debug',
    'stack-overflow',
    /kernel stack overflow in thread 1 .*\n(.*\n)*.*\] recurse\+/,
    'panics',
  ],
  [
    'openbsd+debug',
    'hook-fault',
    /panic: .*: load page fault in the kernel: .*\n(.*\n)*.*\] kcov_record_pc\+/,
    'panics',
  ],
  ['openbsd+lockdep', 'lock-circle', /"provoke a" is taken while "provoke c" is held/, 'goes on'],
  ['openbsd+debug', 'double-lock', /spinlock provoke a is taken twice/, 'panics'],
  ['openbsd+debug', 'sleep-locked', /may sleep with a spinlock held \(provoke a\)/, 'panics'],
  ['openbsd+debug', 'lock-order', /lock order reversal: "provoke a" is taken while "provoke b"/, 'goes on'],
  ['openbsd+debug', 'use-after-free', /slab poisoning: byte 8 of free object/, 'panics'],
  ['openbsd+poison', 'use-after-free', /slab poisoning: byte 8 of free object/, 'panics'],
  ['openbsd+debug', 'page-after-free', /page poisoning: .* in a free page holds 1/, 'panics'],
  ['openbsd+kasan', 'heap-overflow', /BUG: KASAN: slab-out-of-bounds in do_heap_overflow\+/, 'goes on'],
  ['openbsd+kasan', 'large-overflow', /BUG: KASAN: slab-out-of-bounds in do_large_overflow\+/, 'goes on'],
  ['openbsd+kasan', 'double-free', /BUG: KASAN: double-free in do_double_free\+/, 'goes on'],
  ['openbsd+kasan', 'use-after-free', /BUG: KASAN: slab-use-after-free in do_use_after_free\+/, 'goes on'],
  ['openbsd+kasan', 'page-after-free', /BUG: KASAN: use-after-free in do_page_after_free\+/, 'goes on'],
  ['openbsd+kasan', 'global-overflow', /BUG: KASAN: global-out-of-bounds in do_global_overflow\+/, 'goes on'],
  ['openbsd+ubsan', 'shift', /UBSAN: shift-out-of-bounds in opt\/provoke\/provoke\.c:\d+/, 'goes on'],
  ['openbsd+ubsan', 'int-overflow', /UBSAN: signed-integer-overflow in opt\/provoke\/provoke\.c/, 'goes on'],
  ['openbsd+ubsan', 'index', /UBSAN: array-index-out-of-bounds in opt\/provoke\/provoke\.c/, 'goes on'],
  ['openbsd+ubsan-trap', 'shift', /illegal instruction in the kernel|breakpoint in the kernel/, 'panics'],
];

describe.skipIf(!ready)('the checking kernels', () => {
  let archive: Uint8Array;
  beforeAll(async () => {
    const names = [
      'provoke',
      'fuzz',
      'lent',
      'fail-nth',
      'processes',
      'threads',
      'signals',
      'memory',
      'clocks',
    ];
    const files: Record<string, Uint8Array> = {};
    for (const name of names) files[`bin/${name}`] = await program(`tests/${name}.c`);
    archive = initrd(files);
  }, 120_000);

  for (const [conf, bug, text, outcome] of BUGS)
    it(`${conf} reports ${bug} and ${outcome}`, async () => {
      const end = run(await kernel(conf), archive, `init=/bin/provoke kcov=guest -- ${bug}`);
      expect(end.text).toMatch(text);
      expect(Number(end.status) & 0xff).toBe(outcome === 'panics' ? 126 : 0);
    }, 180_000);

  it('a hung task is reported with its backtrace', async () => {
    const append = 'init=/bin/provoke hung_task_secs=1 -- hang';
    const end = run(await kernel('openbsd+debug'), archive, append, {}, 200_000_000);
    expect(end.text).toMatch(/INFO: task provoke:1 blocked for more than \d+ seconds\n(.*\n)*.*\] do_hang\+/);
  });

  for (const conf of ['openbsd+debug', 'openbsd+kasan', 'openbsd+ubsan'])
    for (const name of ['processes', 'threads', 'signals', 'memory', 'clocks'])
      it(`${conf}: ${name} runs without a report on 4 harts`, async () => {
        const end = run(await kernel(conf), archive, `init=/bin/${name}`, { harts: 4 });
        expect(failures(end.text)).toEqual([]);
        expect(end.text).not.toMatch(REPORT);
        expect(end.status).toBe(0);
      }, 180_000);

  for (const conf of DIALECTS)
    for (const seed of [1, 2, 3])
      it(`${conf}+kasan+lockdep: files are closed under their users, seed ${seed}, 4 harts`, async () => {
        const append = `init=/bin/lent panic_on_warn -- 20000 ${seed}`;
        const end = run(await kernel(`${conf}+kasan+lockdep`), archive, append, { harts: 4 }, 1e12);
        expect(failures(end.text)).toEqual([]);
        expect(end.text).not.toMatch(REPORT);
      }, 3_600_000);

  it('every allocation of common operations may fail', async () => {
    const end = run(await kernel('openbsd+debug+kasan'), archive, 'init=/bin/fail-nth');
    expect(failures(end.text)).toEqual([]);
    expect(end.text).not.toMatch(/skipped/);
    expect(end.text).not.toMatch(REPORT);
  }, 180_000);

  for (const harts of [1, 4])
    for (const conf of ['openbsd', 'netbsd+debug', 'freebsd+kasan', 'linux+kasan+ubsan'])
      it(`${conf}: ${CALLS} random system calls without a report, ${harts} hart(s)`, async () => {
        const append = `init=/bin/fuzz panic_on_warn -- ${CALLS} ${SEED} 3`;
        const virtio = [{ kind: 'blk' as const, image: new Uint8Array(2 << 20) }];
        const end = run(await kernel(conf), archive, append, { harts, virtio }, 1e13);
        expect(end.text).not.toMatch(REPORT);
        expect(end.text).toMatch(/^ok fuzz/m);
      }, 36_000_000);
});
