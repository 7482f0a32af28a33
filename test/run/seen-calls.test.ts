// Calls that leave the same records as an earlier one are kept as a number (foldsCalls): random
// calls of several threads, in runs and single records, against a recorder that keeps them all.
import { expect, test } from 'vitest';
import { Elf, type Trace, TraceBuilder } from '../../coverage/index.ts';
import { KIND } from '../../devices/kcov-layout.ts';
import { type KcovOrigin, ORIGIN_WORDS } from '../../emulator/index.ts';
import { CallFolding } from '../../run/call-folding.ts';
import { CallSources } from '../../run/call-sources.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const CASES = 400;

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

/** As the context of a hart holds it. */
function wordsOf({ tid, pid, syscall, context, handle, descriptor }: KcovOrigin): Uint32Array {
  const kind = context === 'task' ? KIND.TASK : KIND.REMOTE_TASK;
  return Uint32Array.of(tid, pid, syscall, kind, Number(handle), 0, descriptor, 0);
}

/**
 * Hands random records to both recorders, split at random places for the second. Returns how many
 * runs came again.
 */
function feed(random: Random, plain: TraceRecorder, folding: TraceRecorder): number {
  let repeats = 0;
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
  for (let call = 0; call < 60; call++) {
    const { origin, body, halves } = random.oneIn(3) ? anyCall() : loop[call % loop.length]!;
    const words = Uint32Array.from(body.flatMap(pc => [...new Array(halves - 2).fill(pc), pc, 0]));
    for (let i = 0; i < body.length; i++)
      plain.record(origin, false, words.slice(i * halves, (i + 1) * halves), 0, i);
    for (let i = 0, count = 0; i < body.length; i += count) {
      count = random.oneIn(4) ? 1 + random.below(body.length - i) : body.length - i;
      if (origin.isUnique || (count === 1 && random.oneIn(2))) {
        count = 1;
        folding.record(origin, false, words.slice(i * halves, (i + 1) * halves), 0, i);
      } else {
        const run = {
          ...{ words: Uint32Array.of(...wordsOf(origin), ...words), origin: 0, count, halves },
          ...{ at: ORIGIN_WORDS + i * halves, context: origin.contextAddress, area: 0, index: i },
        };
        if (folding.repeats!(run)) repeats++;
        else folding.run!(origin, run);
      }
    }
    if (!random.oneIn(40)) continue;
    // It found no room.
    for (const recorder of [plain, folding]) recorder.record(origin, false, Uint32Array.of(2, 0), 0, -1);
  }
  return repeats;
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

test('a folded trace has each distinct call, in the same order, as often', () => {
  const seed = seedFromEnvironment(0xf01d);
  const elf = emptyImage();
  let [folded, repeats] = [0, 0];
  for (let i = 0; i < CASES; i++) {
    const plain = new TraceRecorder('linux', elf, 'a');
    const folding = new TraceRecorder('linux', elf, 'a', { foldsCalls: true });
    repeats += feed(new Random(seed + i), plain, folding);
    const [expected, got] = [plain.finish(), folding.finish()];
    const why = `seed ${seedText(seed + i)}`;
    expect([...distinct(got)], why).toEqual([...distinct(expected)]);
    expect([got.count, got.sourceCount, got.lostTotal], why).toEqual([
      ...[expected.count, expected.sourceCount, expected.lostTotal],
    ]);
    expect([...got.pointPc], why).toEqual([...expected.pointPc]);
    expect([...got.hits()], why).toEqual([...expected.hits()]);
    folded += expected.sources.length - got.sources.length;
  }
  expect(folded).toBeGreaterThan(CASES);
  expect(repeats).toBeGreaterThan(CASES);
});

test('a run that comes again has the origin of its own descriptor', () => {
  const builder = new TraceBuilder({ dialect: 'linux', image: emptyImage().imageId });
  const folding = new CallFolding(builder, new CallSources(builder), 'a');
  let repeats = 0;
  // Two descriptors of a thread, one after the other, with the same calls.
  for (const descriptor of [1, 2])
    for (let call = 0; call < 8; call++) {
      const origin = originOf(1, call % 2, 0n, false, descriptor);
      const words = Uint32Array.of(...wordsOf(origin), 2 * (call % 2), 0);
      const run = {
        ...{ words, origin: 0, at: ORIGIN_WORDS, count: 1, halves: 2 },
        ...{ context: origin.contextAddress, area: 0, index: call },
      };
      const known = folding.repeated(run);
      if (!known) folding.add(origin, run);
      else {
        repeats++;
        expect(known.descriptor).toBe(descriptor);
      }
    }
  expect(repeats).toBeGreaterThan(6);
});
