/**
 * The records of a trace counted by test, identified lost ones too: only points that a test reached
 * take memory, however many tests there are.
 */
import type { Trace } from '../trace/trace.ts';

export interface TestHits {
  name: string;
  /** Points that it reached, in order of address, and how often. */
  points: Uint32Array;
  hits: Float64Array;
}

/**
 * `pointOf` is the program's point of each trace point, or -1; `count` the number of points;
 * `missedAt` the point of each identified lost record, or negative.
 */
export function hitsByTest(
  trace: Trace,
  pointOf: Int32Array,
  count: number,
  missedAt: Int32Array = new Int32Array(0),
): TestHits[] {
  const numbers = new Map(trace.tests.map((name, i) => [name, i] as const));
  const runs: { from: number; to: number }[][] = Array.from(numbers, () => []);
  for (const { source, from, to } of trace.runs())
    runs[numbers.get(trace.sources[source]!.test)!]!.push({ from, to });
  const lost: number[][] = [];
  for (const [row, point] of missedAt.entries())
    if (point >= 0 && trace.missed[row]!.count > 0)
      (lost[numbers.get(trace.sources[trace.missed[row]!.source]!.test)!] ??= []).push(row);
  const hits = new Float64Array(count); // zero between two tests
  return Array.from(numbers.keys(), (name, i) => {
    const touched: number[] = [];
    const add = (point: number, times: number): void => {
      if (hits[point] === 0) touched.push(point);
      hits[point]! += times;
    };
    for (const { from, to } of runs[i]!) {
      for (let k = from; k < to; k++) {
        const point = pointOf[trace.records[k]!]!;
        if (point >= 0) add(point, trace.times?.[k] ?? 1);
      }
    }
    for (const row of lost[i] ?? []) add(missedAt[row]!, trace.missed[row]!.count);
    const points = Uint32Array.from(touched).sort();
    const mine = Float64Array.from(points, point => hits[point]!);
    for (const point of points) hits[point] = 0;
    return { name, points, hits: mine };
  });
}

/** How many tests reached each of `count` points. */
export function testsReaching(tests: readonly TestHits[], count: number): Uint32Array {
  const reached = new Uint32Array(count);
  for (const { points } of tests) for (const point of points) reached[point]!++;
  return reached;
}
