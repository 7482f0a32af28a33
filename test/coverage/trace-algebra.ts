/**
 * An independent model of traces as lists of events, with random ones: merge, filter and diff are
 * compared with plain lists and sets computed here. fast-check shrinks a trace that fails.
 */
import fc from 'fast-check';
import {
  KINDS,
  type RecordKind,
  readTrace,
  type Source,
  type Trace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { seedFromEnvironment } from '../support/random.ts';

/** One event of a trace, with all of its source; what a list of them says is the whole model. */
export type Event = { readonly source: Source } & (
  | { readonly is: 'record'; readonly kind: RecordKind; readonly pc: bigint; readonly operands: string }
  | { readonly is: 'lost'; readonly count: number }
  | { readonly is: 'missed'; readonly kind: RecordKind; readonly pc: bigint; readonly count: number }
  | { readonly is: 'crossing'; readonly addr: bigint; readonly entered: number; readonly left: number }
);

export interface Model {
  readonly dialect: string;
  readonly image: string;
  readonly notes: Readonly<Record<string, string>>;
  readonly flow: boolean;
  readonly events: readonly Event[];
  readonly findings: readonly string[];
}

/** Cases and seed of fast-check; KCOVBOX_RUNS is the number of cases, `short` the usual one. */
export const dose = (short: number): fc.Parameters<unknown> => ({
  numRuns: Number(process.env['KCOVBOX_RUNS'] ?? short),
  seed: seedFromEnvironment(0x7ace),
});

const source = fc
  .record({
    test: fc.constantFrom('', 'a', 'b', 'p', 'a (p)', 'a (p) #2', 'p #2'),
    process: fc.integer({ min: 1, max: 2 }),
    thread: fc.integer({ min: 1, max: 3 }),
    syscall: fc.constantFrom(-1, 63, 64),
    call: fc.integer({ min: 0, max: 3 }),
    handle: fc.constantFrom(0n, 0n, 0x42n, 0xfedc_ba98_7654_3210n),
    unique: fc.boolean(),
    withoutPcs: fc.constantFrom(false, false, false, true),
  })
  .map(
    ({ unique, withoutPcs, handle, ...rest }): Source => ({
      ...rest,
      handle,
      context: handle === 0n ? 'task' : 'remote',
      ...(unique && { unique }),
      ...(withoutPcs && { withoutPcs }),
    }),
  );

const operands = fc
  .tuple(
    fc.constantFrom(0, 5, 6),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 0n, max: 3n }),
  )
  .map(values => values.join(' '));

/** Random traces whose PCs, comparisons too, are among `pcs`; those of kind `cmp` among `cmps`. */
export function models(pcs: readonly bigint[], cmps: readonly bigint[] = pcs): fc.Arbitrary<Model> {
  const kinds = fc.constantFrom<RecordKind>('pc', 'pc', 'pc', 'cmp', 'edge');
  const places = { pc: pcs, cmp: cmps, edge: [0x1234_5678_9abc_def0n, ...pcs] };
  const place = (kind: RecordKind) => fc.constantFrom(...places[kind]);
  const count = fc.integer({ min: 1, max: 4 });
  return fc.array(source, { minLength: 1, maxLength: 5 }).chain(sources => {
    const from = fc.constantFrom(...sources);
    const record = kinds.chain(kind =>
      fc.record({
        is: fc.constant('record' as const),
        source: from,
        kind: fc.constant(kind),
        pc: place(kind),
        operands: kind === 'cmp' ? operands : fc.constant(''),
      }),
    );
    const missed = kinds.chain(kind =>
      fc.record({
        is: fc.constant('missed' as const),
        source: from,
        kind: fc.constant(kind),
        pc: place(kind),
        count,
      }),
    );
    const lost = fc.record({ is: fc.constant('lost' as const), source: from, count });
    const crossing = fc.record({
      is: fc.constant('crossing' as const),
      source: from,
      addr: fc.constantFrom(...pcs),
      entered: fc.integer({ min: 0, max: 2 }),
      left: fc.integer({ min: 0, max: 2 }),
    });
    return fc.record({
      dialect: fc.constantFrom('linux', 'linux', 'openbsd', ''),
      image: fc.constantFrom('', 'build-id:00'),
      notes: fc.constantFrom<Record<string, string>>({}, { seed: '1' }, { seed: '2', mode: 'x' }),
      flow: fc.boolean(),
      events: fc.array(
        fc.oneof<fc.MaybeWeightedArbitrary<Event>[]>(
          { arbitrary: record, weight: 8 },
          missed,
          lost,
          crossing,
        ),
        { maxLength: 14 },
      ),
      findings: fc.array(fc.constantFrom('one', 'two'), { maxLength: 2 }),
    });
  });
}

const bytesOf = (chunks: Iterable<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat([...chunks]));

/** The file of a model. `image`: overrides the model's own. */
export function fileOf(model: Model, image = model.image): Uint8Array {
  const { dialect, notes, flow } = model;
  const builder = new TraceBuilder({ dialect, image, notes, ...(flow && { flow: 'known' as const }) });
  for (const event of model.events) {
    const number = builder.source(event.source);
    if (event.is === 'lost') builder.lost(number, event.count);
    else if (event.is === 'missed') builder.lost(number, event.count, { kind: event.kind, pc: event.pc });
    else if (event.is === 'crossing') builder.crossing(number, event.addr, event.entered, event.left);
    else if (event.kind === 'pc') builder.pc(number, event.pc);
    else if (event.kind === 'edge') builder.edge(number, event.pc);
    else {
      const [type, arg1, arg2] = event.operands.split(' ') as [string, string, string];
      builder.cmp(number, Number(type), BigInt(arg1), BigInt(arg2), event.pc);
    }
  }
  for (const finding of model.findings) builder.finding(finding);
  return bytesOf(writeTrace(builder.finish()));
}

export const traceOf = (model: Model): Trace => readTrace(fileOf(model), 'model.kcov');

/** A trace through its file. */
export const stored = (trace: Trace): Trace => readTrace(bytesOf(writeTrace(trace)), 'stored.kcov');

const sourceText = (source: Source): string => {
  const { test, process, thread, syscall, call, context, handle, unique, withoutPcs } = source;
  const modes = `${unique ? ' unique' : ''}${withoutPcs ? ' without' : ''}`;
  return `${process}/${thread} ${syscall}:${call} ${context} ${handle}${modes} ${JSON.stringify(test)}`;
};

/** All that a trace or a model says: records in order, and sums of the rest. */
export interface Facts {
  readonly records: readonly string[];
  readonly lost: Readonly<Record<string, number>>;
  readonly missed: Readonly<Record<string, number>>;
  readonly crossings: Readonly<Record<string, number>>;
}

/** Sums by text, sorted, without zeros. */
function sums(rows: readonly (readonly [string, number])[]): Record<string, number> {
  const sum = new Map<string, number>();
  for (const [key, value] of rows) sum.set(key, (sum.get(key) ?? 0) + value);
  return Object.fromEntries([...sum].filter(([, value]) => value !== 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function factsOf(events: readonly Event[]): Facts {
  const rows = { records: [] as string[], lost: [], missed: [], crossings: [] } as {
    records: string[];
    lost: [string, number][];
    missed: [string, number][];
    crossings: [string, number][];
  };
  for (const event of events) {
    const by = sourceText(event.source);
    if (event.is === 'record') rows.records.push(`${by} ${event.kind} ${event.pc} ${event.operands}`);
    else if (event.is === 'crossing') {
      rows.crossings.push([`${by} ${event.addr} in`, event.entered], [`${by} ${event.addr} out`, event.left]);
    } else {
      rows.lost.push([by, event.count]);
      if (event.is === 'missed') rows.missed.push([`${by} ${event.kind} ${event.pc}`, event.count]);
    }
  }
  return {
    records: rows.records,
    lost: sums(rows.lost),
    missed: sums(rows.missed),
    crossings: sums(rows.crossings),
  };
}

/** Reads the columns of a trace, without its own methods. `rename`: changes sources. */
export function factsOfTrace(trace: Trace): Facts {
  const by = trace.sources.map(sourceText);
  const records: string[] = [];
  let run = -1;
  let cmp = 0;
  for (let i = 0; i < trace.records.length; i++) {
    while (run + 1 < trace.runStart.length && trace.runStart[run + 1]! <= i) run++;
    const point = trace.records[i]!;
    const kind = KINDS[trace.pointKind[point]!]!;
    const operands =
      kind === 'cmp' ? `${trace.cmpType[cmp]} ${trace.cmpArg1[cmp]} ${trace.cmpArg2[cmp++]}` : '';
    records.push(`${by[trace.runSource[run]!]} ${kind} ${trace.pointPc[point]} ${operands}`);
  }
  return {
    records,
    lost: sums([...trace.lost].map((count, i) => [by[i]!, count] as const)),
    missed: sums(trace.missed.map(m => [`${by[m.source]} ${KINDS[m.kind]} ${m.pc}`, m.count] as const)),
    crossings: sums(
      trace.crossings.flatMap(c => [
        [`${by[c.source]} ${c.addr} in`, c.entered] as const,
        [`${by[c.source]} ${c.addr} out`, c.left] as const,
      ]),
    ),
  };
}

/** The tests of a model, in order of their first event. */
export const testsOf = (events: readonly Event[]): string[] => [
  ...new Set(events.map(({ source }) => source.test)),
];

/** The events with other tests, and calls moved by `base`; 0, an unknown call, stays. */
export const renamed = (events: readonly Event[], testOf: (test: string) => string, base: number): Event[] =>
  events.map(event => ({
    ...event,
    source: {
      ...event.source,
      test: testOf(event.source.test),
      call: event.source.call === 0 ? 0 : event.source.call + base,
    },
  }));
