/** Traces with a correct checksum and hostile content: one line each, in bounded time. */
import { expect, it } from 'vitest';
import { csvRow } from '../../coverage/export/common.ts';
import { CoverageError, readTrace, TraceBuilder, writeTrace } from '../../coverage/index.ts';
import { hitsByTest } from '../../coverage/model/tests.ts';
import { Random } from '../support/random.ts';
import { blocksOf, fileOf, mutate } from './hostile-files.ts';

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
    expect((error as Error).message).toMatch(/^[^\n]+$/);
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
