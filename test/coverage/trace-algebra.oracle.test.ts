/**
 * `cov diff`, and the verbs of `bin/`, against the model of trace-algebra.ts. KCOVBOX_RUNS sets the
 * number of cases.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  CallSites,
  Coverage,
  diffCoverage,
  type Elf,
  HOOK_PC,
  hooksOfBoth,
  mergeTraces,
  Program,
  pcOf,
  readTrace,
  Symbolizer,
} from '../../coverage/index.ts';
import { kcovbox } from '../support/command.ts';
import { buildFixture, fixture, missing, scratch } from './support.ts';
import {
  dose,
  type Event,
  factsOf,
  factsOfTrace,
  fileOf,
  type Model,
  models,
  testsOf,
  traceOf,
} from './trace-algebra.ts';

const reason = missing('trace algebra', 'clang-19', 'ld.lld-19');

describe.skipIf(reason)('trace algebra on an image', () => {
  let elf: Elf;
  let pcs: bigint[];
  let cmps: bigint[];
  let sites: CallSites;

  beforeAll(() => {
    elf = fixture();
    sites = new CallSites(elf);
    const returns = (isPc: boolean) =>
      [...sites.ret].filter((_, i) => (sites.hook[i] === HOOK_PC) === isPc).map(pcOf);
    [pcs, cmps] = [returns(true), returns(false)];
  });

  /** The PCs that a model reached, lost ones too. */
  const reached = ({ events }: Model): Set<bigint> =>
    new Set(
      events.flatMap(event =>
        (event.is === 'record' || event.is === 'missed') && event.kind === 'pc' ? [event.pc] : [],
      ),
    );
  const hasPcRecord = ({ events }: Model) =>
    events.some(event => event.is === 'record' && event.kind === 'pc');
  const pairs = () => fc.tuple(models(pcs, cmps).filter(hasPcRecord), models(pcs, cmps).filter(hasPcRecord));

  const pointsOf = (a: Set<bigint>, b: Set<bigint>) => ({
    onlyA: [...a].filter(pc => !b.has(pc)).length,
    onlyB: [...b].filter(pc => !a.has(pc)).length,
    both: [...a].filter(pc => b.has(pc)).length,
    neither: pcs.length - new Set([...a, ...b]).size,
  });

  it('diff counts the points of two sets and of what they have in common', () => {
    fc.assert(
      fc.property(pairs(), ([a, b]) => {
        const [one, other] = [traceOf({ ...a, image: '' }), traceOf({ ...b, image: '' })];
        const program = new Program(elf, { hooks: hooksOfBoth(one, other) });
        const both = mergeTraces([
          { trace: one, name: 'a' },
          { trace: other, name: 'b' },
        ]);
        const [of, against, sum] = [one, other, both].map(trace => new Coverage(trace, program));
        const diff = diffCoverage(of!, against!);
        expect(diff.points).toEqual(pointsOf(reached(a), reached(b)));
        const back = diffCoverage(against!, of!);
        expect([back.linesOnlyA, back.linesOnlyB]).toEqual([diff.linesOnlyB, diff.linesOnlyA]);
        expect(diffCoverage(sum!, against!).points).toMatchObject({ onlyA: diff.points.onlyA, onlyB: 0 });
        const total = (key: 'onlyA' | 'onlyB') => diff.functions.reduce((n, fn) => n + fn[key], 0);
        expect([total('onlyA'), total('onlyB')]).toEqual([diff.points.onlyA, diff.points.onlyB]);
      }),
      dose(40),
    );
  });

  /** Options of `cov filter`, and the events that they keep. */
  function choices(): [string[], (event: Event) => boolean][] {
    const symbolizer = new Symbolizer(elf);
    const frames = new Map([...sites.ret].map((ret, i) => [pcOf(ret), symbolizer.frames(sites.call[i]!)]));
    const placed = (is: (pc: bigint) => boolean) => (event: Event) =>
      event.is === 'record' || event.is === 'missed' ? event.kind !== 'edge' && is(event.pc) : true;
    const kind = (wanted: string) => (event: Event) =>
      event.is === 'record' || event.is === 'missed' ? event.kind === wanted : true;
    return [
      [['--context', 'remote'], ({ source }) => source.context === 'remote'],
      [['--thread', '1'], ({ source }) => source.thread === 1],
      [['--process', '2', '--syscall', '-1'], ({ source }) => source.process === 2 && source.syscall === -1],
      [['--kind', 'cmp'], kind('cmp')],
      [['--kind', 'edge'], kind('edge')],
      [['-f', '^parse_number$'], placed(pc => frames.get(pc)!.some(fn => fn.function === 'parse_number'))],
      [['-F', 'lookup.c'], placed(pc => frames.get(pc)!.some(({ file }) => file.endsWith('lookup.c')))],
    ];
  }

  it('the command does what the model does', () => {
    const dir = scratch();
    const all = choices();
    const path = (name: string) => join(dir, name);
    const run = (...args: string[]) => {
      const { status, stderr, stdout } = kcovbox(['cov', ...args], { cwd: dir });
      expect({ status, stderr: stderr.replace(/^kcovbox: no record .*\n/, '') }).toEqual({
        status: 0,
        stderr: '',
      });
      return stdout;
    };
    const image = buildFixture();
    fc.assert(
      fc.property(pairs(), fc.constantFrom(...all), fc.constantFrom(...all), ([a, b], first, second) => {
        const flow = { flow: false };
        writeFileSync(path('a.kcov'), fileOf({ ...a, ...flow }, elf.imageId));
        writeFileSync(path('b.kcov'), fileOf({ ...b, ...flow }, elf.imageId));
        for (const [options, has] of [first, second]) {
          run('filter', '-k', image, ...options, '-o', 'part.kcov', 'a.kcov');
          const part = readTrace(readFileSync(path('part.kcov')));
          expect(factsOfTrace(part)).toEqual(factsOf(a.events.filter(has)));
        }
        run('merge', '-o', 'all.kcov', 'a.kcov', 'b.kcov');
        const whole = readTrace(readFileSync(path('all.kcov')));
        const count = ({ events }: Model) => factsOf(events).records.length;
        expect(whole.records.length).toBe(count(a) + count(b));
        expect(whole.tests.length).toBe(testsOf(a.events).length + testsOf(b.events).length);
        const diff = JSON.parse(run('diff', '--json', '-k', image, 'all.kcov', 'b.kcov'));
        const union = new Set([...reached(a), ...reached(b)]);
        expect(diff.points).toEqual(pointsOf(union, reached(b)));
      }),
      dose(1),
    );
  });
});
