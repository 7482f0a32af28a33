// Calls that leave the same records as an earlier one are kept as a number (foldsCalls): random
// calls of several threads, in runs and single records, against a recorder that keeps them all.
import { expect, test } from 'vitest';
import { Elf, type Trace, TraceBuilder } from '../../coverage/index.ts';
import type { KcovHooks, KcovPorts, KcovSink } from '../../devices/kcov.ts';
import { CTX, HOOK, HOOKS, KIND, RECORD, REG } from '../../devices/kcov-layout.ts';
import type { Ram } from '../../emulator/bus/ram.ts';
import { type KcovOrigin, ORIGIN_WORDS, type RunsFollowed } from '../../emulator/index.ts';
import { REPEATS_BYTES } from '../../emulator/machine/kcov-inline/repeats.ts';
import { RecordRing, RING_BYTES } from '../../emulator/machine/kcov-inline/ring.ts';
import { CallFolding } from '../../run/call-folding.ts';
import { CallSources } from '../../run/call-sources.ts';
import { ExpectedCalls } from '../../run/expected-calls.ts';
import type { SeenCall } from '../../run/seen-calls.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { AREA, CONTEXT, type Fixture, fixture, TABLE } from '../devices/kcov-fixture.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const CASES = 400;
const RAM_BYTES = 0x10_0000;
const WORDS = 1024;
/** Comparisons of a long call. */
const LENGTH = 100;

/** An ELF file without sections. */
function emptyImage(): Elf {
  const bytes = new Uint8Array(128);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  const view = new DataView(bytes.buffer);
  view.setUint16(16, 2, true);
  view.setUint16(18, 243, true);
  view.setBigUint64(40, 64n, true);
  view.setUint16(58, 64, true);
  view.setUint16(60, 1, true);
  return new Elf(bytes, 'empty');
}

const ELF = emptyImage();

const originOf = (
  tid: number,
  syscall: number,
  handle: bigint,
  isUnique: boolean,
  descriptor = 1,
): KcovOrigin => ({
  ...{ tid, pid: 1, syscall, context: handle > 0n ? 'remote-task' : 'task', handle, isUnique },
  ...{ contextAddress: 4096 * tid, descriptor },
});

/** A recorder behind a device: records come one by one, or through the ring of compiled code. */
interface Line {
  readonly fixture: Fixture;
  /** A hook of a context in this system call and so on. */
  hook(origin: KcovOrigin, halves: number, pc: number, isStored: boolean): void;
}

function line(sink: KcovSink, isCompiled: boolean): Line {
  let hooks: KcovHooks | undefined;
  const more = (ram: Ram): Partial<KcovPorts> => ({
    ring: (slow, full) => new RecordRing(ram, 0x1_0000 + RAM_BYTES, slow, full),
    publishHooks: table => (hooks = table),
  });
  const f = fixture(RAM_BYTES, more, RING_BYTES);
  f.device.observe(sink);
  for (let at = 0; at < HOOKS.SIZE; at += 8) f.ram.write64(TABLE + at, 0xffff_ffff_8000_0000n);
  f.store(REG.HOOKS, TABLE);
  f.context(RECORD.PC, WORDS);
  const set = (field: keyof typeof CTX, value: number): void => f.ram.write32(CONTEXT + CTX[field], value);
  return {
    fixture: f,
    hook({ tid, pid, syscall, context, handle, descriptor }, halves, pc, isStored) {
      set('MODE', halves === 2 ? RECORD.PC : RECORD.CMP);
      set('TID', tid);
      set('PID', pid);
      set('SYSCALL', syscall);
      set('KIND', context === 'task' ? KIND.TASK : KIND.REMOTE_TASK);
      set('HANDLE', Number(handle));
      set('DESCRIPTOR', descriptor);
      const kind = halves === 2 ? HOOK.PC : HOOK.CMP8;
      f.store(REG.ARG0, pc);
      f.store(REG.ARG1, pc);
      if (isCompiled && !isStored) hooks!.report!(kind, pc, 0);
      else f.store(REG.TRIGGER + 8 * kind, pc);
    },
  };
}

/** The listener, which counts how often runs came as expected. */
function counting(recorder: TraceRecorder): { sink: KcovSink; times(): number } {
  let times = 0;
  const followed: RunsFollowed = (last, records) => {
    times++;
    recorder.repeats!.followed(last, records);
  };
  const sink: KcovSink = {
    isPassive: true,
    record: (...record) => recorder.record(...record),
    run: recorder.run,
    repeats: { use: repeats => recorder.repeats!.use(repeats), followed },
  };
  return { sink, times: () => times };
}

/**
 * Makes random calls on two devices, whose records the second hands over at random places. Returns
 * how often runs came as expected.
 */
function feed(random: Random, plain: TraceRecorder, folding: TraceRecorder): number {
  const heard = counting(folding);
  const lines = [line(plain, false), line(heard.sink, true)];
  const bodies = Array.from({ length: 4 }, () =>
    Array.from({ length: 1 + random.below(6) }, () => 2 * random.below(8)),
  );
  const anyCall = () => ({
    origin: originOf(
      1 + (random.oneIn(6) ? 1 : 0),
      random.below(3) - 1,
      random.oneIn(12) ? 7n : 0n,
      random.oneIn(30),
      random.oneIn(10) ? 2 : 1,
    ),
    body: random.pick(bodies),
    halves: random.oneIn(5) ? 8 : 2,
  });
  // A loop of calls, with others in between.
  const loop = Array.from({ length: 2 + random.below(3) }, anyCall);
  const others = 3 + random.below(20);
  for (let call = 0; call < 60; call++) {
    const { origin, body, halves } = random.oneIn(others) ? anyCall() : loop[call % loop.length]!;
    for (const { fixture } of lines) fixture.ram.write64(AREA, 0n);
    for (const [i, pc] of body.entries()) {
      const isStored = random.oneIn(30);
      if (random.oneIn(20)) lines[1]!.fixture.device.flush();
      if (origin.isUnique) {
        const words = Uint32Array.from([...new Array(halves - 2).fill(pc), pc, 0]);
        for (const { fixture } of lines) fixture.device.flush();
        for (const recorder of [plain, folding]) recorder.record(origin, false, words, 0, i);
      } else for (const each of lines) each.hook(origin, halves, pc, isStored);
    }
    if (!random.oneIn(40)) continue;
    // It found no room.
    for (const { fixture } of lines) fixture.device.flush();
    for (const recorder of [plain, folding]) recorder.record(origin, false, Uint32Array.of(2, 0), 0, -1);
  }
  for (const { fixture } of lines) fixture.device.flush();
  return heard.times();
}

/** Records of each source, in order, with their operands. */
function recordsBySource(trace: Trace): string[] {
  const texts = trace.sources.map(() => '');
  let cmp = 0;
  for (const { source, from, to } of trace.runs())
    for (let i = from; i < to; i++) {
      const point = trace.records[i]!;
      const isCmp = trace.pointKind[point] === 1;
      const operands = isCmp ? ` ${trace.cmpType[cmp]} ${trace.cmpArg1[cmp]} ${trace.cmpArg2[cmp++]}` : '';
      texts[source] += `${trace.pointKind[point]} ${trace.pointPc[point]}${operands};`;
    }
  return texts;
}

/** Each distinct call: the first one, and how many there are. */
function distinct(trace: Trace): Map<string, { first: number; times: number }> {
  const calls = new Map<string, { first: number; times: number }>();
  for (const [i, text] of recordsBySource(trace).entries()) {
    const { thread, syscall, call, context, handle, unique } = trace.sources[i]!;
    const key = `${thread} ${syscall} ${context} ${handle} ${unique} ${trace.lost[i]} ${text}`;
    const known = calls.get(key) ?? { first: call, times: 0 };
    known.times += 1 + (trace.alike?.[i] ?? 0);
    calls.set(key, known);
  }
  return calls;
}

/** The folded trace has what the plain one has. */
function expectSame(got: Trace, expected: Trace, why: string): void {
  expect([...distinct(got)], why).toEqual([...distinct(expected)]);
  expect([got.count, got.sourceCount, got.lostTotal], why).toEqual([
    ...[expected.count, expected.sourceCount, expected.lostTotal],
  ]);
  expect([...got.pointPc], why).toEqual([...expected.pointPc]);
  expect([...got.hits()], why).toEqual([...expected.hits()]);
}

const recorders = (): [plain: TraceRecorder, folding: TraceRecorder] => [
  new TraceRecorder('linux', ELF, 'a'),
  new TraceRecorder('linux', ELF, 'a', { foldsCalls: true }),
];

test('a folded trace has each distinct call, in the same order, as often', () => {
  const seed = seedFromEnvironment(0xf01d);
  let [folded, followed] = [0, 0];
  for (let i = 0; i < CASES; i++) {
    const [plain, folding] = recorders();
    followed += feed(new Random(seed + i), plain, folding);
    const [expected, got] = [plain.finish(), folding.finish()];
    expectSame(got, expected, `seed ${seedText(seed + i)}`);
    folded += expected.sources.length - got.sources.length;
  }
  expect(folded).toBeGreaterThan(CASES);
  expect(followed).toBeGreaterThan(CASES);
});

test('more distinct calls than the ring keeps', () => {
  const [plain, folding] = recorders();
  const heard = counting(folding);
  const lines = [line(plain, false), line(heard.sink, true)];
  const calls = Math.ceil(2.5 * (REPEATS_BYTES / (32 * LENGTH)));
  // Two in turns, then many, then two again.
  const bodies = Array.from({ length: 2 * calls + 100 }, (_, call) =>
    call < 50 || call >= 2 * calls + 50 ? call % 2 : call % calls,
  );
  for (const [call, body] of bodies.entries())
    for (const { fixture, hook } of lines) {
      fixture.ram.write64(AREA, 0n);
      for (let i = 0; i < LENGTH; i++) hook(originOf(1, call % 2, 0n, false), 8, 2 * (body + i), false);
    }
  for (const { fixture } of lines) fixture.device.flush();
  expectSame(folding.finish(), plain.finish(), '');
  expect(heard.times()).toBeGreaterThan(0);
});

test('runs that come as expected have the origin of their own descriptor', () => {
  const builder = new TraceBuilder({ dialect: 'linux', image: ELF.imageId });
  const folding = new CallFolding(builder, new CallSources(builder), 'a');
  const descriptors = new Set<number>();
  const followed: RunsFollowed = ({ words, origin }) => {
    const { descriptor } = folding.followed();
    expect(descriptor).toBe(words[origin + ORIGIN_WORDS - 2]);
    descriptors.add(descriptor);
  };
  const { fixture, hook } = line(
    {
      isPassive: true,
      record: (origin, _isEdge, words) =>
        folding.add(origin, { words, at: 0, count: 1, halves: words.length }),
      run: (origin, run) => folding.add(origin, run),
      repeats: { use: repeats => folding.use(repeats), followed },
    },
    true,
  );
  // Two descriptors of a thread, in turns, with the same calls.
  for (let call = 0; call < 64; call++) {
    const descriptor = 1 + ((call >> 3) & 1);
    fixture.ram.write64(AREA, 0n);
    hook(originOf(1, call % 2, 0n, false, descriptor), 2, 2 * (call % 2), false);
    if (call % 4 === 3) fixture.device.flush();
  }
  expect(descriptors).toEqual(new Set([1, 2]));
});

test('no run is expected behind one of another descriptor', () => {
  const links: string[] = [];
  const expected = new ExpectedCalls(new TraceBuilder({}));
  let kept = 0;
  expected.use({
    keep: () => ++kept,
    expect: (from, to) => void links.push(`${from} ${to}`),
    at: 0,
    takeBegun: () => 0,
    takeEnded: () => 0,
    clear: () => {},
  });
  const run = { words: new Uint32Array(2), at: 0, count: 1, halves: 2 };
  let last: SeenCall | undefined;
  for (const descriptor of [1, 1, 2, 2]) {
    const origin = originOf(1, kept, 0n, false, descriptor);
    const seen = { before: undefined, depth: 1, size: 2, origin, ...run, source: kept };
    expected.came(last, seen, origin, { ...run, origin: 0, context: 0, area: 0, index: 0 });
    last = seen;
  }
  expect(links).toEqual(['1 2', '3 4']);
});
