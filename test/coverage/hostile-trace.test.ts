/** Traces with a correct checksum and hostile content: one line each, in bounded time. */
import { expect, it } from 'vitest';
import { csvRow } from '../../coverage/export/common.ts';
import {
  CoverageError,
  exportTrace,
  filterTrace,
  mergeTraces,
  readTrace,
  shortId,
  type Trace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { hitsByTest } from '../../coverage/model/tests.ts';
import { Random } from '../support/random.ts';
import { type Block, blocksOf, fileOf, forge, mutate } from './hostile-files.ts';

const bytesOf = (chunks: Iterable<Uint8Array>) => new Uint8Array(Buffer.concat([...chunks]));

function sample(): Uint8Array {
  const builder = new TraceBuilder({ dialect: 'linux', image: 'sha256:00', flow: 'known' });
  const [a, b] = [builder.source({ test: 'a', thread: 1 }), builder.source({ test: 'b', thread: 2 })];
  for (let i = 0; i < 40; i++) builder.pc(i % 3 ? a : b, 0xffff_ffff_8020_0000n + BigInt(4 * (i % 7)));
  builder.cmp(a, 5, 1n, 2n, 0xffff_ffff_8020_0040n);
  builder.lost(a, 2, { kind: 'pc', pc: 0xffff_ffff_8020_0000n });
  builder.crossing(b, 0xffff_ffff_8020_0010n, 1, 0);
  builder.finding('one');
  return bytesOf(writeTrace(builder.finish()));
}

/** The value, or the line that says what is wrong; anything else fails. */
function outcome(bytes: Uint8Array): string {
  try {
    const trace = readTrace(bytes, 'x.kcov');
    hitsByTest(
      trace,
      Int32Array.from(trace.pointPc, (_, i) => i),
      trace.pointPc.length,
    );
    return 'ok';
  } catch (error) {
    expect(error).toBeInstanceOf(CoverageError);
    expect((error as Error).message).toMatch(/^[^\n]{1,300}$/);
    return (error as Error).message;
  }
}

it('a list that comes twice is refused, whichever', () => {
  const blocks = blocksOf(sample()).slice(0, -1);
  const again = (tag: string) => blocks.find(block => block.tag === tag)!;
  for (const tag of 'HPF')
    expect(outcome(fileOf([...blocks, again(tag)], 41, 1))).toMatch(`a second block "${tag}"`);
  expect(outcome(fileOf([...blocks, again('S')], 41, 1))).toMatch('sources behind the records');
  const [header, ...rest] = blocks;
  expect(outcome(fileOf([header!, again('S'), ...rest], 41, 1))).toBe('ok');
  expect(outcome(fileOf(blocks, 41, 1))).toBe('ok');
});

it('5,000 mutated files are a value or one line', () => {
  const blocks = blocksOf(sample()).slice(0, -1);
  const random = new Random(1);
  let accepted = 0;
  for (let i = 0; i < 5000; i++) {
    if (outcome(fileOf(mutate(blocks, random), 41, 1)) === 'ok') accepted++;
  }
  expect(accepted).toBeGreaterThan(100);
});

/** The content of a trace, as text. */
const factsOf = (trace: Trace): string => {
  const { header, sources, crossings, missed, findings, cmpType } = trace;
  const facts = [
    header,
    sources,
    crossings,
    missed,
    findings,
    ...[trace.hits(), trace.lost, cmpType].map(String),
  ];
  return JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
};

/** The trace, written and read again, is the same. */
const again = (trace: Trace): Trace => {
  const back = readTrace(bytesOf(writeTrace(trace)), 'again');
  expect(factsOf(back)).toBe(factsOf(trace));
  return back;
};

it('what is read of 3,000 forged files is written, merged, filtered and exported', () => {
  const builder = new TraceBuilder({ dialect: 'linux', flow: 'known', notes: { a: 'b' } });
  const a = builder.source({ test: 'a', thread: 1, syscall: 3, call: 1 });
  const remote = builder.source({ test: 'b', context: 'remote', handle: 0x123n, unique: true });
  for (let i = 0; i < 9; i++) builder.pc(i % 3 ? a : remote, 0xffff_ffff_8020_0000n + BigInt(4 * (i % 4)));
  builder.cmp(a, 5, 1n, 2n, 0xffff_ffff_8020_0040n);
  builder.edge(remote, 0x1234_5678_1234_5678n);
  builder.lost(a, 2, { kind: 'pc', pc: 0xffff_ffff_8020_0000n });
  builder.lost(remote, 3);
  builder.crossing(remote, 0xffff_ffff_8020_0010n, 1, 0);
  builder.finding('one');
  const whole = bytesOf(writeTrace(builder.finish()));
  const blocks = blocksOf(whole).slice(0, -1);
  const random = new Random(2);
  let accepted = 0;
  for (let i = 0; i < 3000; i++) {
    const file = fileOf(forge(blocks, random), 11, 1);
    if (outcome(file) !== 'ok') continue;
    accepted++;
    const trace = again(readTrace(file, 'x.kcov'));
    const merged = again(mergeTraces([1, 2].map(part => ({ trace, name: `${part}` }))));
    expect(merged.records.length).toBe(2 * trace.records.length);
    expect(merged.lostTotal).toBe(2 * trace.lostTotal);
    again(filterTrace(trace, { point: (_, pc) => pc % 8n === 0n }));
    bytesOf(exportTrace('csv', trace, undefined));
    bytesOf(exportTrace('raw', trace, undefined, trace.pointKind.length > 0 ? { kind: 'pc' } : {}));
  }
  expect(accepted).toBeGreaterThan(300);
});

it('forged numbers, lists and objects are one short line', () => {
  const blocks = blocksOf(sample()).slice(0, -1);
  const json = (tag: string, text: string): Block => ({ tag, payload: new TextEncoder().encode(text) });
  const bytes = (tag: string, ...payload: number[]): Block => ({ tag, payload: Uint8Array.from(payload) });
  const withBlock = (block: Block) => blocks.map(old => (old.tag === block.tag ? block : old));
  const source = (more: string) => {
    const one = `{"test":"a","process":0,"thread":1,"syscall":-1,"call":0,"context":"task","handle":"0x0"`;
    return json('S', `[${one}},${one}${more}}]`);
  };
  const huge = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1];
  const point = [1, 2, 3, 4, 5, 6, 7, 8];
  const lines: readonly (readonly [Block, string])[] = [
    [json('F', '[{"toString":1,"valueOf":1}]'), 'a finding that is not text'],
    [json('F', '['.repeat(100_000) + ']'.repeat(100_000)), 'JSON of more than 8 levels'],
    [json('F', `["\\"[[[[[[[[[["${',1'.repeat(2 ** 23)}]`), 'JSON of more than 8388608 values'],
    [json('F', `["${'x'.repeat(2 ** 26)}"]`), 'JSON of 67108868 bytes, more than 67108864'],
    [json('H', '{"dialect":"","image":"","notes":{"a":[]}}'), 'a note that is not text'],
    [json('H', '{"dialect":"","image":"","notes":"abc"}'), 'notes that are not named'],
    [
      json('H', `{"dialect":"","image":"","notes":{"a":"${'x'.repeat(2 ** 20)}"}}`),
      'a header of 1048618 bytes, more than 1048576,',
    ],
    [source(',"test":{}'), 'a test that is not text'],
    [source(',"call":-1'), 'system call -1 of a thread'],
    [source(',"call":9007199254740991'), 'system call 9007199254740991 of a thread'],
    [source(',"context":"other"'), 'a source of unknown context'],
    [source(',"handle":"0x"'), 'a source without a handle'],
    [bytes('L', 0, ...huge), 'a number above 281474976710656'],
    [bytes('L', 0, 1, 0, 1), 'lost records of source 0 for a second time'],
    [bytes('M', 0, 0, ...point, ...huge), 'a number above 281474976710656'],
    [bytes('M', 0, 0, ...point, 3), 'more lost records of source 0 than it lost'],
    [bytes('X', 0, ...point, ...huge, 1), 'a number above 281474976710656'],
    [bytes('P', 0x81, 0x80, 0x80, 2), 'more points than a trace has'],
    [bytes('R', 1, 0, 0), 'a run without records'],
    [bytes('C', 1, 0x80, 0x80, 0x80, 0x80, 0x10, ...point, ...point), 'a type of a comparison above 32 bits'],
  ];
  for (const [block, line] of lines) {
    const said = outcome(fileOf(withBlock(block), 41, 1));
    expect(said).toMatch(/^x\.kcov is damaged: .* at offset 0x[0-9a-f]+$/);
    expect(said).toContain(`: ${line} at`);
  }
  const file = fileOf(blocks, 41, 1);
  const end = new Uint8Array(1000);
  end[0] = 'E'.charCodeAt(0);
  new DataView(end.buffer).setUint32(1, end.length - 5, true);
  const at = Buffer.from(file).lastIndexOf('E');
  expect(outcome(new Uint8Array(Buffer.concat([file.subarray(0, at), end])))).toContain(
    'totals of 995 bytes',
  );
});

it('a header that no reader takes is not written', () => {
  const headed = (size: number) => new TraceBuilder({ notes: { a: 'x'.repeat(size) } }).finish();
  again(headed(2 ** 20 - 42));
  expect(() => bytesOf(writeTrace(headed(2 ** 20 - 41)))).toThrow(
    'no room for a header of 1048577 bytes, more than 1048576: shorten its notes',
  );
});

it('the identity of an image is cut where a line names it', () => {
  expect(shortId(`sha256:${'a'.repeat(64)}`)).toBe(`sha256:${'a'.repeat(16)}`);
  expect(shortId('build-id:12')).toBe('build-id:12');
  for (const id of ['x'.repeat(1000), `${'x'.repeat(1000)}:1`, `${':'.repeat(1000)}`])
    expect(shortId(id).length).toBeLessThanOrEqual(80);
});

it('sums of forged traces that are not exact are refused, not written', () => {
  const builder = new TraceBuilder();
  builder.pc(builder.source({ call: 2 ** 48 }), 1n);
  const trace = again(builder.finish());
  expect(() => mergeTraces([1, 2].map(part => ({ trace, name: `${part}` })))).toThrow(
    'the traces have too many system calls or lost records together',
  );
});

it('100,000 test names and 10,000 points take memory for what there is, not for their product', () => {
  const builder = new TraceBuilder({ dialect: 'linux' });
  for (let i = 0; i < 100_000; i++)
    builder.pcHalves(builder.source({ test: `test ${i}` }), 4 * (i % 10_000), 0xffffffff);
  const trace = readTrace(bytesOf(writeTrace(builder.finish())));
  const tests = hitsByTest(
    trace,
    Int32Array.from(trace.pointPc, (_, i) => i),
    trace.pointPc.length,
  );
  expect(tests.length).toBe(100_000);
  expect(tests.reduce((sum, { points }) => sum + points.length, 0)).toBe(100_000);
});

it('control characters of names and findings do not get through', () => {
  const builder = new TraceBuilder({ dialect: 'li\x1b[31mnux' });
  builder.pc(builder.source({ test: 'a\x1b]0;x\x07\u009b' }), 1n);
  builder.finding('\x1b[2J');
  const trace = readTrace(bytesOf(writeTrace(builder.finish())));
  const text = JSON.stringify([trace.header, trace.tests, trace.findings]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the very thing
  expect(text).not.toMatch(/\\u00[019]|[\x00-\x1f\x7f-\x9f]/);
  expect(trace.tests).toEqual(['a\\x1b]0;x\\x07\\x9b']);
  expect(csvRow('\u202ecnuf', 'a\n"b"', 1)).toBe('\\x202ecnuf,"a\\x0a""b""",1\n');
});
