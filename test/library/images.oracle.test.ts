// Traces and coverages of different images do not mix in kcovbox/coverage: every function that
// takes two of them, or one and an image, refuses them in one sentence, as the command does.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { CallSites, Elf, HOOK_PC, pcOf, TraceBuilder, writeTrace } from '../../coverage/index.ts';
import {
  type Coverage,
  diffCoverage,
  Image,
  KcovboxError,
  measure,
  mergeTraces,
  readTrace,
  type Trace,
} from '../../library/coverage.ts';
import { buildFixture, bytesOf, missing } from '../coverage/support.ts';

const reason = missing('traces of two images', 'clang-19', 'ld.lld-19');

interface Made {
  readonly image: Image;
  readonly trace: Trace;
  readonly coverage: Coverage;
}

/**
 * A trace of all points of the fixture. `isNamed`: it has the name of its image. `flow`: it knows
 * all changes between recorded and unrecorded execution.
 */
function make(optimise: string, isNamed = true, flow?: 'known'): Made {
  const path = buildFixture({ optimise });
  const bytes = readFileSync(path);
  const elf = new Elf(bytes, path);
  const sites = new CallSites(elf);
  const builder = new TraceBuilder({
    dialect: 'linux',
    image: isNamed ? elf.imageId : '',
    ...(flow && { flow }),
  });
  const source = builder.source({ test: 'all', thread: 1, syscall: 63, call: 1 });
  for (const [site, ret] of sites.ret.entries())
    if (sites.hook[site] === HOOK_PC) builder.pc(source, pcOf(ret));
  const image = new Image(bytes, path);
  const trace = readTrace(bytesOf(writeTrace(builder.finish())));
  return { image, trace, coverage: measure(trace, image) };
}

test.skipIf(reason)('a coverage says whether its totals have a share', () => {
  const { image, trace, coverage } = make('-O2', true, 'known');
  expect(coverage.hasShare).toBe(true);
  const part = measure(trace.filter({ places: { image, select: { functions: 'parse_number' } } }), image);
  expect(part.hasShare).toBe(false);
  const totals = part.totals();
  expect(totals.lines.total).toBe(totals.lines.covered);
  expect(totals.functions.total).toBe(totals.functions.covered);
  const states = part.functions().map(({ hits, isLeast }) => [hits > 0, isLeast]);
  expect(states.filter(([ran]) => !ran)).not.toContainEqual([false, false]);
  expect(states.filter(([ran]) => !ran)).toHaveLength(totals.functions.unknown);
});

describe.skipIf(reason)('two images', () => {
  let [one, other]: Made[] = [];
  beforeAll(() => {
    one = make('-O2');
    other = make('-O0');
  });

  /** The error of kind `coverage`, of one line. */
  function refused(work: () => unknown): string {
    try {
      work();
    } catch (error) {
      if (!(error instanceof KcovboxError)) throw error;
      expect(error.kind).toBe('coverage');
      expect(error.message).not.toContain('\n');
      return error.message;
    }
    throw new Error('it was not refused');
  }

  test('a trace is not measured with another image, nor two of different ones', () => {
    expect(refused(() => measure(one!.trace, other!.image))).toMatch(
      /was recorded on image .*give the image/,
    );
    expect(refused(() => measure([one!.trace, other!.trace], one!.image))).toMatch(/recorded on/);
  });

  test('traces of two images are not merged', () => {
    expect(refused(() => mergeTraces([{ trace: one!.trace }, { trace: other!.trace }]))).toMatch(
      /were recorded on 2 images: their PCs cannot be put together/,
    );
  });

  test('a trace is not filtered by places of another image', () => {
    const places = { image: other!.image, select: { functions: '.' } };
    expect(refused(() => one!.trace.filter({ places }))).toMatch(/was recorded on image .*give the image/);
    // Nor one without any record in those places, whose PCs nothing would compare.
    const empty = one!.trace.filter({ test: 'none' });
    expect(empty.count).toBe(0);
    expect(refused(() => empty.filter({ places }))).toMatch(/was recorded on image/);
    expect(one!.trace.filter({ places: { ...places, image: one!.image } }).count).toBe(one!.trace.count);
  });

  test('coverages are compared only if image and selection are the same', () => {
    expect(refused(() => diffCoverage(one!.coverage, other!.coverage))).toMatch(
      /^the coverages are of different images, (\S+) and (?!\1)\S+: give two of one image$/,
    );
    const part = measure(one!.trace, one!.image, { functions: '^[a-f]' });
    expect(refused(() => diffCoverage(one!.coverage, part))).toMatch(/two Image objects or two selections/);
    const again = make('-O2');
    expect(again.image.id).toBe(one!.image.id);
    expect(refused(() => diffCoverage(one!.coverage, again.coverage))).toMatch(/two Image objects/);
    expect(diffCoverage(one!.coverage, measure(one!.trace, one!.image)).points.onlyA).toBe(0);
  });

  test('a trace that names no image is measured with one that its PCs fit', () => {
    const unnamed = make('-O2', false);
    expect(unnamed.trace.image).toBe('');
    expect(measure(unnamed.trace, one!.image).totals()).toEqual(one!.coverage.totals());
    expect(refused(() => measure(unnamed.trace, other!.image))).toMatch(/PC/);
  });
});
