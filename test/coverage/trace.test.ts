/** The trace model and its stored form. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CoverageError,
  compareArea,
  filterTrace,
  mergeTraces,
  readTrace,
  type Trace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { Grow, NO_SOURCE } from '../../coverage/trace/trace.ts';
import { blocksOf } from './hostile-files.ts';

function bytesOf(chunks: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...chunks]));
}

const BASE = 0xffff_ffff_8020_0000n;

function sample(): Trace {
  const builder = new TraceBuilder({ dialect: 'openbsd', image: 'sha256:00', notes: { seed: '7' } });
  const open = builder.source({ test: 'open', process: 2, thread: 3, syscall: 56, call: 1 });
  const remote = builder.source({
    test: 'open',
    process: 2,
    thread: 9,
    context: 'remote',
    handle: 0xfedcba9876543210n,
  });
  builder.pc(open, BASE + 4n);
  builder.pc(open, BASE + 8n);
  builder.pc(remote, BASE + 4n);
  builder.cmp(open, 5, 7n, 0xffff_ffff_ffff_ffffn, BASE + 20n);
  builder.edge(open, 0x1234_5678_9abc_def0n);
  builder.pc(open, BASE + 4n);
  builder.lost(open, 12);
  builder.finding('word 0 was changed');
  return builder.finish();
}

describe('trace', () => {
  it('keeps records in order with who made them', () => {
    const trace = sample();
    expect([...trace.records]).toEqual([0, 1, 0, 2, 3, 0]);
    expect([...trace.runs()]).toEqual([
      { source: 0, from: 0, to: 2 },
      { source: 1, from: 2, to: 3 },
      { source: 0, from: 3, to: 6 },
    ]);
    expect([...trace.hits()]).toEqual([3, 1, 1, 1]);
    expect(trace.lostTotal).toBe(12);
  });

  it('has a source for each of many system calls, in several blocks', () => {
    const builder = new TraceBuilder();
    const count = 150_000;
    for (let call = 0; call < count; call++) {
      const source = { ...NO_SOURCE, thread: 2, syscall: call % 7, call };
      builder.pc(builder.newSource(source), BASE + BigInt(4 * (call % 3)));
    }
    builder.lost(count - 1, 5);
    const trace = builder.finish();
    const bytes = bytesOf(writeTrace(trace));
    expect(readTrace(bytes)).toEqual(trace);
    expect(blocksOf(bytes).filter(({ tag }) => tag === 'S').length).toBe(3);
  });

  it('is bounded: more system calls or records are one line, with what to do', () => {
    const builder = new TraceBuilder({}, 2);
    builder.source({ thread: 1 });
    builder.newSource({ ...NO_SOURCE, call: 1 });
    const line = 'formats that count records (json, lcov, cobertura) have no such limit';
    const calls = `a trace has no room for more than 2 system calls; ${line}`;
    expect(() => builder.source({ thread: 2 })).toThrow(calls);
    expect(() => builder.newSource({ ...NO_SOURCE, call: 2 })).toThrow(calls);
    const column = new Grow(n => new Uint32Array(n));
    const records = `a trace has no room for more than 268435456 records of this kind; ${line}`;
    expect(() => column.reserve(2 ** 28 + 1)).toThrow(records);
    expect(() => column.reserve(2 ** 33)).toThrow(CoverageError);
    expect(column.count).toBe(0);
  });

  it('is bounded in crossings and identified lost records, and in bytes that are written', () => {
    const builder = new TraceBuilder({}, 9, 2);
    const source = builder.source({ thread: 1 });
    for (let i = 0; i < 9; i++) {
      builder.crossing(source, BigInt(i % 2), 1, 0);
      builder.lost(source, 1, { kind: 'pc', pc: BigInt(i % 2) });
    }
    const line = 'a trace has no room for more than 2 crossings; record parts of the run apart';
    expect(() => builder.crossing(source, 3n, 1, 0)).toThrow(line);
    for (let i = 0; i < 9; i++) builder.lost(source, 1, { kind: 'pc', pc: BigInt(i % 3) });
    const { missed, lostTotal, findings } = builder.finish();
    expect(missed.map(({ count }) => count)).toEqual([8, 7]);
    expect([lostTotal, findings]).toEqual([18, ['not all lost records are identified: there are too many']]);
  });

  it('is not written where no reader takes the file', () => {
    const trace = sample();
    const size = bytesOf(writeTrace(trace)).length;
    expect(bytesOf(writeTrace(trace, size)).length).toBe(size);
    const line = `a trace file has no room for more than ${size - 1} bytes; formats that count records`;
    expect(() => bytesOf(writeTrace(trace, size - 1))).toThrow(line);
  });

  it('is written with long names of tests in more blocks', () => {
    const builder = new TraceBuilder();
    const test = 'n'.repeat(1 << 20);
    for (let call = 1; call <= 9; call++) builder.pc(builder.newSource({ ...NO_SOURCE, test, call }), BASE);
    builder.pc(builder.newSource({ ...NO_SOURCE, test: test.repeat(5) }), BASE);
    const trace = builder.finish();
    const bytes = bytesOf(writeTrace(trace));
    expect(readTrace(bytes)).toEqual(trace);
    expect(blocksOf(bytes).filter(({ tag }) => tag === 'S').length).toBe(4);
  });

  it('reads records out of an area, a whole one at a time', () => {
    const words = new BigUint64Array([5n, 1n, 2n, BASE, 0n, 3n, 4n, BASE + 2n]);
    const builder = new TraceBuilder();
    const source = builder.source({ thread: 1 });
    builder.area(source, 'cmp', new Uint8Array(words.buffer), 2);
    builder.area(source, 'pc', new Uint8Array(words.buffer, 24, 8), 1);
    const trace = builder.finish();
    expect([...trace.cmpType]).toEqual([5, 0]);
    expect([...trace.pointPc]).toEqual([BASE, BASE + 2n, BASE]);
    expect(() => builder.area(source, 'cmp', new Uint8Array(40), 2)).toThrow(
      'an area of 40 bytes cannot hold 2 cmp records',
    );
  });

  it('merges with test names and renumbered calls, and filters by point and source', () => {
    const merged = mergeTraces([
      { trace: sample(), name: 'ignored' },
      { trace: sample(), name: 'ignored' },
    ]);
    expect(merged.records.length).toBe(12);
    expect(merged.sources.map(s => s.call)).toEqual([1, 0, 2, 0]);
    expect(merged.tests).toEqual(['open (ignored)', 'open (ignored) #2']);
    expect(merged.lostTotal).toBe(24);
    const tasks = filterTrace(merged, { source: s => s.context === 'task', point: kind => kind === 'pc' });
    expect([...tasks.hits()]).toEqual([4, 2]);
    const compares = filterTrace(merged, { point: kind => kind === 'cmp' });
    expect([...compares.cmpArg2]).toEqual([0xffff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn]);
  });

  it('a filtered trace says so, also when it was merged or stored; one that lost nothing is itself', () => {
    const read = (trace: Trace): Trace => readTrace(bytesOf(writeTrace(trace)), 'a.kcov');
    const whole = sample();
    expect(whole.header.filtered).toBeUndefined();
    expect(read(whole).header.filtered).toBeUndefined();
    expect(filterTrace(whole, { point: () => true, source: () => true })).toBe(whole);
    const parts = [
      filterTrace(whole, { point: kind => kind === 'cmp' }),
      filterTrace(whole, { source: s => s.context === 'task' }),
    ];
    for (const trace of parts) {
      expect(trace.header.filtered).toBe(true);
      expect(read(trace).header.filtered).toBe(true);
      const named = [whole, trace].map((part, i) => ({ trace: part, name: `${i}` }));
      expect(mergeTraces(named).header.filtered).toBe(true);
    }
    expect(mergeTraces([{ trace: whole, name: 'a' }]).header.filtered).toBeUndefined();
  });

  it('reports an area that a program has scribbled over', () => {
    const device = new BigUint64Array([BASE, BASE + 4n]);
    const area = new BigUint64Array([2n, BASE, BASE + 4n]);
    const check = () => compareArea(new Uint8Array(area.buffer), new Uint8Array(device.buffer), 'pc', 2);
    expect(check()).toBeUndefined();
    area[2] = 0xdeadn;
    expect(check()).toBe('word 2 of the area is 0xdead, the device wrote 0xffffffff80200004 (record 1)');
    area[0] = 99n;
    expect(check()).toBe('word 0 of the area says 99 records, the device wrote 2');
  });
});

describe('trace file', () => {
  it('gives back what was written, and the same bytes each time', () => {
    const bytes = bytesOf(writeTrace(sample()));
    expect(bytesOf(writeTrace(sample()))).toEqual(bytes);
    const back = readTrace(bytes);
    expect(back).toEqual(sample());
    expect(bytesOf(writeTrace(back))).toEqual(bytes);
  });

  it('round-trips any sequence of records over block boundaries', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(70_000)), { maxLength: 40 }), steps => {
        const builder = new TraceBuilder({ dialect: 'linux' });
        for (const [source, repeat] of steps) {
          const number = builder.source({ thread: source });
          for (let i = 0; i < repeat % 3000; i++) builder.pcHalves(number, i * 2, 0xffffffff);
        }
        const trace = builder.finish();
        const back = readTrace(bytesOf(writeTrace(trace)));
        expect(Buffer.compare(Buffer.from(back.records.buffer), Buffer.from(trace.records.buffer))).toBe(0);
        expect([...back.runStart]).toEqual([...trace.runStart]);
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it('keeps every source, point and operand when its columns grow', () => {
    const builder = new TraceBuilder();
    for (let i = 0; i < 5000; i++) {
      const source = builder.source({ thread: i % 2 });
      builder.cmp(source, i % 8, BigInt(i), BigInt(2 * i), BASE + BigInt(i));
    }
    const trace = builder.finish();
    const back = readTrace(bytesOf(writeTrace(trace)));
    expect(back).toEqual(trace);
    expect(Array.from(back.cmpArg2)).toEqual(Array.from({ length: 5000 }, (_, i) => BigInt(2 * i)));
    expect(Array.from(back.pointPc)).toEqual(Array.from({ length: 5000 }, (_, i) => BASE + BigInt(i)));
    expect([...back.runs()].map(run => run.to - run.from)).toEqual(Array.from({ length: 5000 }, () => 1));
  });

  it('names a truncated file as truncated, wherever it is cut', () => {
    const bytes = bytesOf(writeTrace(sample()));
    for (let cut = 8; cut < bytes.length; cut++) {
      expect(() => readTrace(bytes.subarray(0, cut), 't.kcov')).toThrow(
        /^t\.kcov is truncated after \d+ records/,
      );
    }
  });

  it('never accepts a damaged file and never fails with anything but one line', () => {
    const bytes = bytesOf(writeTrace(sample()));
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const damaged = bytes.slice();
        damaged[at]! ^= flip;
        let message = '';
        try {
          readTrace(damaged, 't.kcov');
        } catch (error) {
          expect(error).toBeInstanceOf(CoverageError);
          message = (error as Error).message;
        }
        expect(message).toMatch(/^t\.kcov [^\n]+$/);
      }
    }
  });
});
