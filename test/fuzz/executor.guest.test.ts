// The executor against an independent observer: the records that the agent's buffer has for each
// call are those that the kcov device reported to the host while that call ran, on the other
// engine. And campaigns: equal on both engines, in any order of their batches.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { KcovSink } from '../../emulator/index.ts';
import { titleOf } from '../../fuzz/executor/title.ts';
import {
  BUDGET,
  Choice,
  campaignConfig,
  comparisonsOf,
  type EpochResult,
  type Executor,
  Generator,
  HALVES,
  mergeEpoch,
  parseProgram,
  progressOf,
  Random,
  runBatch,
  runCampaign,
  State,
} from '../../fuzz/index.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget, prepareTarget } from '../../host/fuzz/target.ts';
import { buildProgram } from '../../toolchain/index.ts';
import { ROOT } from '../support/command.ts';
import { seedFromEnvironment, seedText, Random as TestRandom } from '../support/random.ts';

const descriptions = loadDescriptions(descriptionTexts());
const [compiled, interpreted] = [
  openTarget(await prepareTarget({ engine: 'jit' })),
  openTarget(await prepareTarget({ engine: 'interp' })),
];
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Records of the last execution, by call: words as text. */
function byCall({ area }: Executor, execution: ReturnType<Executor['execute']>): string[] {
  const halves = HALVES[execution.mode];
  return execution.calls.map(({ begin, end }) =>
    [...area.subarray(2 + halves * begin, 2 + halves * end)].join(' '),
  );
}

it('the records of each call are those that the device reported during that call', () => {
  const seed = seedFromEnvironment(0x5eed_0001);
  const random = new Random(BigInt(seed));
  const generator = new Generator(random, new Choice(descriptions), []);
  let [calls, records] = [0, 0];
  for (let n = 0; n < 150; n++) {
    const program = generator.program();
    const mode = n % 2 === 0 ? 'pc' : 'cmp';
    const found = byCall(compiled, compiled.execute(program, mode));
    // The observer knows the system call that a record belongs to, and when a new call begins.
    const observed: { syscall: number; words: number[] }[] = [];
    let context = 0;
    const sink: KcovSink = {
      record(origin, isEdge, words) {
        if (origin.context !== 'task' || isEdge) return;
        context ||= origin.contextAddress;
        if (origin.contextAddress !== context) return;
        const last = observed.at(-1);
        if (last?.syscall === origin.syscall) last.words.push(...words);
        else observed.push({ syscall: origin.syscall, words: [...words] });
      },
    };
    interpreted.goBack();
    interpreted.machine.board.kcov!.observe(sink);
    const execution = interpreted.execute(program, mode);
    interpreted.machine.board.kcov!.observe(undefined);
    const all = observed.flatMap(({ words }) => words).join(' ');
    const buffered = byCall(interpreted, execution);
    expect(found, `seed ${seedText(seed)}, program ${n}`).toEqual(buffered);
    let at = 0;
    for (const [i, text] of buffered.entries()) {
      if (text === '') continue;
      at = all.indexOf(text, at);
      expect(at, `call ${i} of program ${n}, seed ${seedText(seed)}`).toBeGreaterThanOrEqual(0);
      at += text.length;
      calls++;
      records += execution.calls[i]!.end - execution.calls[i]!.begin;
    }
    // Each system call that was observed is one of the program, or the agent's own.
    const own = new Set([...program.calls.map(({ type }) => type.number), 64, 94, 93, -1, 0xffff_ffff]);
    const strangers = observed.filter(({ syscall }) => !own.has(syscall) && syscall !== 139);
    expect(strangers.map(({ syscall }) => syscall)).toEqual([]);
  }
  expect(calls).toBeGreaterThan(300);
  expect(records).toBeGreaterThan(10_000);
});

it('without snapshots an execution is the same, with the instructions of the boot', async () => {
  const target = await prepareTarget({ engine: 'jit' });
  const booting = openTarget(target, { reset: 'boot' });
  const program = parseProgram('pipe2(&{>r0, >r1}, 0x0)\nwrite(r1, &"abc", 0x3)\n', descriptions);
  // The agent is where a snapshot would be.
  const boot = booting.machine.spent;
  expect(boot).toBeGreaterThan(100_000);
  const [first, wanted] = [booting.execute(program), compiled.execute(program)];
  const records = byCall(booting, first);
  expect(records).toEqual(byCall(compiled, wanted));
  expect(first.units).toBe(boot + wanted.units);
  const again = booting.execute(program);
  expect([again.units, byCall(booting, again)]).toEqual([first.units, records]);
});

it('calls behind a fork are seen, and those of a child are not', () => {
  const program = parseProgram('clone$fork(0x11, 0x0, 0x0, 0x0, 0x0)\ngetpid()\n', descriptions);
  const { calls, end } = compiled.execute(program);
  expect(end).toBe('done');
  expect(calls.map(({ value }) => value !== undefined && value > 1n)).toEqual([true, true]);
});

it('a call that writes over the results of others does no harm', () => {
  const open = 'r0 = openat(0xffffff9c, &"f\\x00", 0x2, 0x0)\n';
  for (const mode of ['pc', 'cmp'] as const)
    for (const address of ['0x10000400', '0x10100000']) {
      const execution = compiled.execute(
        parseProgram(`${open}read(r0, ${address}, 0x10)\n`, descriptions),
        mode,
      );
      comparisonsOf(compiled, execution);
      for (const { begin, end } of execution.calls) {
        expect(begin).toBeLessThanOrEqual(end);
        expect(2 + HALVES[mode] * end).toBeLessThanOrEqual(compiled.area.length);
      }
    }
});

/** Two threads on two harts. */
const races = {
  jit: openTarget(await prepareTarget({ engine: 'jit', hasThreads: true })),
  interp: openTarget(await prepareTarget({ engine: 'interp', hasThreads: true })),
};
const RACE = `pipe2(&{>r0, >r1}, 0x0)
clone$fork(0x11, 0x0, 0x0, 0x0, 0x0)
write(r1, &"abcdef", 0x6) !thread=1
read(r0, &out[4], 0x4) !thread=2
read(r0, &out[4], 0x4)
close(r1) !thread=2
`;

it('two threads: all calls return, in orders that differ by seed and by nothing else', () => {
  const seen = new Set<string>();
  for (const order of ['turns', 'rw', 'rp', 'pos', 'pct:2', 'pct:3:1000'])
    for (const seed of [1, 2]) {
      const program = parseProgram(`!schedule ${order} 0x${seed}\n${RACE}`, descriptions);
      const facts = [races.jit, races.interp, races.jit].map(executor => {
        const { end, calls, units } = executor.execute(program);
        expect(end).toBe('done');
        expect(calls.map(({ hasBegun }) => hasBegun)).toEqual(Array(6).fill(true));
        const records = calls.map(call => [
          ...executor.recordsOf(call).subarray(2 + 2 * call.begin, 2 + 2 * call.end),
        ]);
        return JSON.stringify([units, calls.map(({ value }) => `${value}`), records]);
      });
      expect(new Set(facts).size, `${order} ${seed}`).toBe(1);
      seen.add(facts[0]!);
    }
  expect(seen.size).toBeGreaterThan(5);
});

it('two threads: a call that sleeps is interrupted, whichever thread makes it', () => {
  for (const [mine, others] of [
    ['read(r0, &out[4], 0x4)', 'getpid() !thread=2'],
    ['getpid()', 'read(r0, &out[4], 0x4) !thread=2'],
    ['read(r0, &out[4], 0x4)', 'read(r0, &out[4], 0x4) !thread=2'],
  ]) {
    const text = `!schedule pos 0x3\npipe2(&{>r0, >r1}, 0x0)\n${mine} !thread=1\n${others}\n`;
    const { end, calls } = races.jit.execute(parseProgram(text, descriptions));
    expect(end).toBe('done');
    const interrupted = calls.slice(1).filter(({ value }) => value === BigInt.asUintN(64, -4n));
    expect(interrupted).toHaveLength(text.match(/\bread\(/g)!.length);
  }
});

it('two threads: a program of one is as it is without a second, and one of two needs it', () => {
  const alone = parseProgram('getpid()\n', descriptions);
  expect(races.jit.execute(alone)).toMatchObject({ end: 'done' });
  const both = parseProgram(`!schedule rw 0x1\n${RACE}`, descriptions);
  expect(() => compiled.execute(both)).toThrow(/the agent has one thread/);
  expect(races.jit.execute(both, 'cmp').calls).toHaveLength(6);
});

it.each([{}, { schedule: 'rw' }])(
  'a campaign is the same on both engines and in any order of its batches: %j',
  more => {
    const [compiledOne, interpretedOne] = more.schedule ? [races.jit, races.interp] : [compiled, interpreted];
    const config = campaignConfig.parse({ batches: 8, perBatch: 24, seed: '0x7', ...more });
    const results: EpochResult[] = [];
    const epoch = (_: unknown, result: EpochResult) => void results.push(result);
    const end = runCampaign({ config, descriptions, executor: compiledOne!, executions: 576, epoch });
    const state = new State(config, descriptions);
    const random = new TestRandom(3);
    for (const expected of results) {
      const order = Array.from({ length: config.batches }, (_, i) => i);
      order.sort(() => (random.oneIn(2) ? 1 : -1));
      const batches = order.map((batch, i) => runBatch(state, i % 2 ? compiledOne! : interpretedOne!, batch));
      const merged = mergeEpoch(state, batches);
      expect(merged).toEqual(expected);
      state.add(merged);
    }
    expect(progressOf(state)).toEqual(end.log.at(-1));
    expect(end.log.at(-1)!.executions).toBe(576);
    expect(end.log.at(-1)!.covered).toBeGreaterThan(1000);
  },
);

it('a campaign goes on behind programs for which the agent has no room', () => {
  const { tables, sources } = descriptionTexts();
  const text =
    'call write$big(fd: fd, buffer: ptr array[8] bytes[4096], size: len64 buffer)\n' +
    'call read$huge(fd: fd, buffer: out array[31] bytes[4095], size: len64 buffer)\n';
  const big = loadDescriptions({ tables, sources: [...sources, { name: 'big.kd', text }] });
  const generator = new Generator(new Random(1n), new Choice(big, ['write$big']), []);
  const thrown = Array.from({ length: 20 }, () => {
    try {
      compiled.execute(generator.program());
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(thrown).toContain('the memory of the arguments is full');
  const config = campaignConfig.parse({ calls: ['write$big', 'read$huge', 'pipe2'], batches: 4 });
  const { state } = runCampaign({ config, descriptions: big, executor: compiled, executions: 512 });
  expect(state.corpus.some(({ text }) => text.includes('write$big'))).toBe(true);
  expect(progressOf(state).executions).toBe(512);
});

it('names what goes wrong as syzkaller does', async () => {
  const kernel = 'linux+kasan+ubsan+lockdep';
  const executor = openTarget(await prepareTarget({ conf: kernel }));
  const more = join(dir, 'provoke.kd');
  const names = ['heap-overflow', 'use-after-free', 'shift', 'lock-order', 'null', 'panic', 'stack-overflow'];
  writeFileSync(
    more,
    `strings provocations = ${names.map(n => `"${n}"`).join(', ')}\nstrings provoke = "/dev/provoke"\n` +
      'call openat$provoke(dir: int32 = -100, path: ptr string provoke, flags: int32 = 1, mode: int32 = 0) -> fd\n' +
      'call write$provoke(fd: fd, buf: ptr string provocations, n: int64[0:40])\n',
  );
  const all = loadDescriptions(descriptionTexts([more]));
  const titles = names.map(name => {
    const text =
      'r0 = openat$provoke(0xffffff9c, &"/dev/provoke\\x00", 0x1, 0x0)\n' +
      `write$provoke(r0, &"${name}\\x00", 0x${name.length.toString(16)})\n`;
    const { end, console } = executor.execute(parseProgram(text, all));
    return titleOf(end, console, 'write');
  });
  expect(titles).toEqual([
    'KASAN: slab-out-of-bounds Write in do_heap_overflow',
    'KASAN: slab-use-after-free Write in do_use_after_free',
    'UBSAN: shift-out-of-bounds in do_shift',
    'possible deadlock in do_lock_order',
    'BUG: unable to handle kernel NULL pointer dereference in do_null',
    'kernel panic: provoked in do_panic',
    'kernel stack overflow in recurse',
  ]);
  // Behind a part of a line that a program has written to /dev/kmsg.
  const text =
    'xypanic: hart 0 thread 6 (agent): provoked\nbacktrace:\n  [<ffffffff8027c65a>] do_panic+0x20\n';
  expect(titleOf('panic', text, 'write')).toBe('kernel panic: provoked in do_panic');
});

it('a call that touches all of memory does not hang, and neither do several that touch much', async () => {
  const checked = openTarget(await prepareTarget({ conf: 'linux+kasan+ubsan+lockdep' }));
  const shared = parseProgram('mmap(vma(7), 0x100000000, 0x4, 0x8021, 0x0, 0x2000)\n', descriptions);
  const all = parseProgram('mmap(vma(3), 0x10000000, 0x1, 0x8022, 0xffffffff, 0x0)\n', descriptions);
  const much =
    'mmap$fixed(vma(3), 0x1000000, 0x3, 0x8032, 0xffffffff, 0x0)\nmunmap(vma(3), 0x1000000)\n'.repeat(10);
  for (const executor of [compiled, checked]) {
    expect(executor.execute(shared).calls[0]!.value).toBe(BigInt.asUintN(64, -12n)); // ENOMEM
    expect(executor.execute(all).end).toBe('ended'); // killed for want of memory
    const { end, units } = executor.execute(parseProgram(much, descriptions));
    expect(end).toBe('done');
    expect(units).toBeGreaterThan(BUDGET);
  }
});

it('constants of the descriptions have the values of the headers', async () => {
  const asserts: string[] = [];
  const names = new Set<string>();
  for (const set of descriptions.flags.values())
    for (const [i, name] of set.names.entries()) {
      names.add(name);
      const message = `"${name}"`;
      asserts.push(
        `#ifdef ${name}\n_Static_assert((unsigned)(${name}) == (unsigned)(${set.values[i]}) || ` +
          `(unsigned short)(${name}) == ${set.values[i]}, ${message});\n#endif`,
      );
    }
  const headers =
    'fcntl.h sched.h signal.h poll.h sys/epoll.h sys/eventfd.h sys/timerfd.h sys/inotify.h sys/mman.h sys/socket.h ' +
    'sys/un.h sys/shm.h sys/stat.h sys/wait.h sys/resource.h sys/time.h sys/mount.h sys/file.h sys/xattr.h sys/random.h ' +
    'sys/prctl.h sys/uio.h time.h unistd.h linux/fs.h linux/futex.h linux/membarrier.h linux/falloc.h linux/close_range.h';
  const source = join(dir, 'constants.c');
  const includes = headers
    .split(' ')
    .map(h => `#if __has_include(<${h}>)\n#include <${h}>\n#endif`)
    .join('\n');
  const kqueue = `#include "${join(ROOT, 'kernel/abi/event.h')}"`;
  writeFileSync(
    source,
    `#define _GNU_SOURCE\n${includes}\n${kqueue}\n${asserts.join('\n')}\nint main(void) { return 0; }\n`,
  );
  expect(names.size).toBeGreaterThan(250);
  await buildProgram(source, { dialect: 'linux' });
});
