/** Merge and filter against the model of trace-algebra.ts. KCOVBOX_RUNS: the number of cases. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  filterTrace,
  mergeTraces,
  pairTraces,
  type RecordFilter,
  type Trace,
  TraceBuilder,
} from '../../coverage/index.ts';
import { proofOf } from '../../coverage/trace/proof.ts';
import {
  dose,
  type Event,
  factsOf,
  factsOfTrace,
  type Model,
  models,
  renamed,
  stored,
  testsOf,
  traceOf,
} from './trace-algebra.ts';

const BASE = 0xffff_ffff_8020_0000n;
const PCS = [0n, 4n, 10n].map(offset => BASE + offset);
const RUNS = 60;

const part = fc.record({ model: models(PCS), name: fc.constantFrom('p', 'q', 'a', 'a (p)') });
const parts = fc.array(part, { minLength: 1, maxLength: 4 });
type Part = { model: Model; name: string };

const merge = (list: readonly Part[]): Trace =>
  stored(mergeTraces(list.map(({ model, name }) => ({ trace: traceOf(model), name }))));

/** The names of a merged trace's tests, by part and old name, in order of their first events. */
function newNames(list: readonly Part[], merged: Trace): Map<string, string>[] {
  const names = merged.tests;
  return list.map(({ model }) => new Map(testsOf(model.events).map(test => [test, names.shift()!])));
}

const sorted = (list: readonly string[]): string[] => [...list].sort();

describe('merge', () => {
  it('is one trace after the other, with calls and tests kept apart', () => {
    fc.assert(
      fc.property(parts, list => {
        const merged = merge(list);
        const names = newNames(list, merged);
        let base = 0;
        const events = list.flatMap(({ model }, i) => {
          const moved = renamed(model.events, test => names[i]!.get(test)!, base);
          base += Math.max(0, ...model.events.map(({ source }) => source.call));
          return moved;
        });
        expect(factsOfTrace(merged)).toEqual(factsOf(events));
        expect(merged.findings).toEqual(list.flatMap(({ model }) => model.findings));
      }),
      dose(RUNS),
    );
  });

  it('names each test once: its own name if no other has it, else one that tells the part', () => {
    fc.assert(
      fc.property(parts, list => {
        const names = newNames(list, merge(list));
        const own = list.flatMap(({ model, name }, i) =>
          testsOf(model.events).map(test => ({
            is: names[i]!.get(test)!,
            was: test || name,
            part: name,
            test,
          })),
        );
        expect(new Set(own.map(({ is }) => is)).size).toBe(own.length);
        for (const { is, was, part: name, test } of own) {
          const isAlone = own.filter(other => other.was === was).length === 1;
          if (isAlone) expect(is).toBe(was);
          else if (test === '') expect(is.replace(/ #\d+$/, '')).toBe(name);
          else expect(is.replace(/ #\d+$/, '')).toBe(`${test} (${name})`);
        }
      }),
      dose(RUNS),
    );
  });

  it('does not depend on the order, but for order, numbers of calls and of equal names', () => {
    const loose = (trace: Trace): unknown => {
      const { records, lost, missed, crossings } = factsOfTrace(trace);
      const nameOf = (text: string) => text.replace(/( #\d+)+(?="|$)/, '');
      const free = (text: string) =>
        nameOf(text.replace(/^(\S+ \S+):(\d+)/, (_, a, n) => `${a}:${n === '0' ? 0 : 'n'}`));
      const sumsOf = (rows: Readonly<Record<string, number>>) =>
        sorted(Object.entries(rows).map(([key, value]) => `${free(key)} ${value}`));
      const { header, tests, findings } = trace;
      return {
        header,
        tests: sorted(tests.map(nameOf)),
        findings: sorted(findings),
        records: sorted(records.map(free)),
        sums: [lost, missed, crossings].map(sumsOf),
      };
    };
    const distinct = fc.uniqueArray(part, { minLength: 2, maxLength: 4, selector: ({ name }) => name });
    fc.assert(
      fc.property(distinct, list => {
        expect(loose(merge(list.toReversed()))).toEqual(loose(merge(list)));
      }),
      dose(RUNS),
    );
  });

  it('reaches the same points, and counts them twice, when a trace is merged with itself', () => {
    fc.assert(
      fc.property(part, one => {
        const [whole, twice] = [traceOf(one.model), merge([one, one])];
        expect([...twice.pointPc]).toEqual([...whole.pointPc]);
        expect([...twice.hits()]).toEqual([...whole.hits()].map(count => 2 * count));
        expect(twice.lostTotal).toBe(2 * whole.lostTotal);
      }),
      dose(RUNS),
    );
  });

  it('is the same at once and in steps, but for the names of equal tests', () => {
    fc.assert(
      fc.property(fc.tuple(part, part, part), ([a, b, c]) => {
        const once = merge([a, b, c]);
        const steps = stored(
          mergeTraces([
            { trace: merge([a, b]), name: 'm' },
            { trace: traceOf(c.model), name: c.name },
          ]),
        );
        const anonymous = ({ records }: { records: readonly string[] }) =>
          records.map(text => text.replace(/"[^"]*"/, ''));
        expect(steps.header).toEqual(once.header);
        expect(anonymous(factsOfTrace(steps))).toEqual(anonymous(factsOfTrace(once)));
      }),
      dose(RUNS),
    );
  });

  it('proves of code that it did not run if each part does', () => {
    fc.assert(
      fc.property(parts, list => {
        const each = list.map(({ model }) => proofOf(traceOf(model)).absence);
        expect(proofOf(merge(list)).absence).toBe(each.every(Boolean));
      }),
      dose(RUNS),
    );
  });

  it('as a pair has the records of both, and proves no more than both', () => {
    fc.assert(
      fc.property(part, part, (a, b) => {
        const [one, other] = [a, b].map(({ model, name }) => ({ trace: traceOf(model), name }));
        const { trace, names } = pairTraces(one!, other!);
        expect(names[0]).not.toBe(names[1]);
        expect(trace.records.length).toBe(one!.trace.records.length + other!.trace.records.length);
        expect(trace.lostTotal).toBe(one!.trace.lostTotal + other!.trace.lostTotal);
        const each = [one!, other!].map(({ trace: of }) => proofOf(of));
        for (const key of ['absence', 'counts', 'crossings'] as const)
          if (!each.every(proof => proof[key])) expect(proofOf(trace)[key]).toBe(false);
      }),
      dose(RUNS),
    );
  });
});

/** A choice of the command line, as a predicate of sources or of points. */
interface Choice {
  readonly keep: RecordFilter;
  readonly has: (event: Event) => boolean;
}

const bySource = (is: (event: Event['source']) => boolean): Choice => ({
  keep: { source: is },
  has: ({ source }) => is(source),
});

/** A lost record that nobody identified may be at any point: it stays in every part. */
const byPoint = (is: (kind: string, pc: bigint) => boolean): Choice => ({
  keep: { point: is },
  has: event => (event.is === 'record' || event.is === 'missed' ? is(event.kind, event.pc) : true),
});

const sourceChoice = fc.constantFrom<(s: Event['source']) => boolean>(
  s => s.context === 'task',
  s => s.thread === 1,
  s => s.process === 1,
  s => s.syscall === 63,
  s => s.test === 'a' || s.test === '',
  () => true,
  () => false,
);
const pointChoice = fc.constantFrom<(kind: string, pc: bigint) => boolean>(
  kind => kind === 'pc',
  kind => kind === 'cmp',
  kind => kind === 'edge',
  (_, pc) => pc === PCS[0],
  (kind, pc) => kind === 'pc' && pc < PCS[2]!,
);
const choices = fc.oneof(
  sourceChoice.map(is => [bySource(is), bySource(s => !is(s))] as const),
  pointChoice.map(is => [byPoint(is), byPoint((kind, pc) => !is(kind, pc))] as const),
);

const factsWhere = (model: Model, { has }: Choice) => factsOf(model.events.filter(has));

describe('filter', () => {
  it('keeps the events that are asked for, in order, and nothing else', () => {
    fc.assert(
      fc.property(models(PCS), choices, (model, [choice]) => {
        const kept = stored(filterTrace(traceOf(model), choice.keep));
        expect(factsOfTrace(kept)).toEqual(factsWhere(model, choice));
        expect(kept.findings).toEqual(model.findings);
      }),
      dose(RUNS),
    );
  });

  it('and its opposite are the whole', () => {
    fc.assert(
      fc.property(models(PCS), sourceChoice, (model, is) => {
        const whole = traceOf(model);
        const both = [is, (s: Event['source']) => !is(s)].map(source =>
          factsOfTrace(stored(filterTrace(whole, { source }))),
        );
        const all = factsOfTrace(whole);
        expect(sorted(both.flatMap(({ records }) => records))).toEqual(sorted(all.records));
        for (const key of ['lost', 'missed', 'crossings'] as const)
          expect({ ...both[0]![key], ...both[1]![key] }).toEqual(all[key]);
      }),
      dose(RUNS),
    );
  });

  it('twice is once, and the order of two does not matter', () => {
    fc.assert(
      fc.property(models(PCS), choices, choices, (model, [a], [b]) => {
        const then = (trace: Trace, ...list: Choice[]) =>
          list.reduce((sum, { keep }) => stored(filterTrace(sum, keep)), trace);
        const trace = traceOf(model);
        expect(factsOfTrace(then(trace, a, a))).toEqual(factsOfTrace(then(trace, a)));
        expect(factsOfTrace(then(trace, a, b))).toEqual(factsOfTrace(then(trace, b, a)));
        const joint: RecordFilter = { ...a.keep, ...b.keep };
        if (Object.keys(joint).length === 2)
          expect(factsOfTrace(stored(filterTrace(trace, joint)))).toEqual(factsOfTrace(then(trace, a, b)));
      }),
      dose(RUNS),
    );
  });

  it('says that it left something out if it did; what remains proves no more than the whole', () => {
    fc.assert(
      fc.property(models(PCS), choices, (model, [choice]) => {
        const whole = traceOf(model);
        const kept = stored(filterTrace(whole, choice.keep));
        if (model.events.some(event => !choice.has(event))) expect(kept.header.filtered).toBe(true);
        else expect(kept.header.filtered).toBeUndefined();
        const [before, after] = [proofOf(whole), proofOf(kept)];
        if (!before.crossings) expect(after).toEqual({ absence: false, counts: false, crossings: false });
      }),
      dose(RUNS),
    );
  });

  it('by thread proves nothing of a thread that may have a UNIQ descriptor of another one', () => {
    const made = new TraceBuilder({ flow: 'known' });
    for (const thread of [1, 2]) made.pc(made.source({ test: 'a', thread, unique: true }), PCS[thread]!);
    const whole = made.finish();
    const kept = filterTrace(whole, { source: ({ thread }) => thread === 2 });
    expect([whole, kept].map(trace => proofOf(trace).absence)).toEqual([true, false]);
  });

  it('of a merged trace by the tests of one part gives that part again', () => {
    fc.assert(
      fc.property(parts, list => {
        const merged = merge(list);
        const names = newNames(list, merged);
        let base = 0;
        for (const [i, { model }] of list.entries()) {
          const mine = new Set(names[i]!.values());
          const kept = stored(filterTrace(merged, { source: ({ test }) => mine.has(test) }));
          const events = renamed(model.events, test => names[i]!.get(test)!, base);
          expect(factsOfTrace(kept)).toEqual(factsOf(events));
          base += Math.max(0, ...model.events.map(({ source }) => source.call));
        }
      }),
      dose(RUNS),
    );
  });
});
