/**
 * Reports from an analysis that was kept are those of a new one, in every byte: with random
 * traces and every format, and of the command, whatever is in the cache. KCOVBOX_SEED.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Addr,
  addrOf,
  annotatedText,
  Coverage,
  codeWindow,
  Elf,
  type ExactCounts,
  exportCoverage,
  FORMATS,
  type Hooks,
  Program,
  pcOf,
  readAnalysis,
  type Trace,
  TraceBuilder,
  writeAnalysis,
} from '../../coverage/index.ts';
import { Lists } from '../../coverage/kept/columns.ts';
import { programOf } from '../../host/analysed.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';
import { prebuilt } from '../support/kernels.ts';
import { useOwnCache } from '../support/own-cache.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing, scratch } from './support.ts';

const reason = missing('kept analyses', 'clang-19', 'ld.lld-19');
const SEED = seedFromEnvironment(0xca5e);
const TRACES = 3;

const imageOf = async (conf: string): Promise<Uint8Array> => readFileSync((await buildKernel(conf)).path);

/** Records of some functions, in a row or alone, and crossings of others. */
function traceOf(
  random: Random,
  program: Program,
  { known, unique }: Record<'known' | 'unique', boolean>,
): Trace {
  const builder = new TraceBuilder({ image: program.elf.imageId, ...(known && { flow: 'known' }) });
  for (const test of ['one', 'two']) {
    const source = builder.source({ test, unique });
    for (let i = random.below(60); i > 0; i--) {
      const first = random.below(program.count);
      for (let point = first; point < Math.min(first + random.below(20), program.count); point++)
        if (program.hooks === 'cmp') builder.cmp(source, 7, 1n, 2n, pcOf(program.ret(point)));
        else builder.pc(source, pcOf(program.ret(point)));
    }
    for (const { low, high } of program.flow.ranges) {
      const returns = random.below(30) === 0 ? program.flow.callReturns({ low, high }) : [];
      if (returns.length > 0)
        builder.crossing(source, pcOf(random.pick(returns)), random.below(2), random.below(2));
    }
  }
  return builder.finish();
}

/** Instructions of functions that ran, each some times. */
function countsOf(random: Random, program: Program): ExactCounts {
  const { low, high } = codeWindow(program.elf);
  const counts = new BigUint64Array(Number(high - low) / 2);
  const indexOf = (addr: Addr): number => Math.floor((addr - addrOf(low)) / 2);
  for (const range of program.flow.ranges)
    if (random.oneIn(10)) counts.fill(BigInt(random.below(3)), indexOf(range.low), indexOf(range.high));
  return { low, counts };
}

/** Formats that cannot express what is covered: of PCs alone, or of records. */
const REFUSED: Readonly<Record<Hooks, readonly string[]>> = {
  pc: [],
  cmp: ['rawcover', 'drcov', 'modoff'],
  none: ['kcov', 'raw', 'rawcover', 'csv', 'drcov', 'modoff'],
};

/** By format: all that is written of coverage, which is made again for each. */
function reportsOf(make: () => Coverage): Record<string, string> {
  const reports: Record<string, string> = { source: annotatedText(make(), () => 'x\n') };
  for (const format of FORMATS) {
    if (REFUSED[make().program.hooks].includes(format)) continue;
    const chunks = exportCoverage(format, make(), { readSource: () => 'x\n' });
    reports[format] = Buffer.concat([...chunks]).toString('latin1');
  }
  return reports;
}

describe.skipIf(reason)('an analysis that is read again', () => {
  for (const conf of [prebuilt('linux+teach'), prebuilt('freebsd+kasan+lockdep')])
    it.each(['pc', 'cmp', 'none'] as const)(
      `${conf}, %s: gives the same reports`,
      {
        timeout: 300_000,
      },
      async hooks => {
        const image = await imageOf(conf);
        const fresh = new Program(new Elf(image, 'kernel'), { hooks });
        const bytes = writeAnalysis(fresh);
        const again = () => readAnalysis(new Elf(image, 'kernel'), bytes);
        expect(Buffer.from(writeAnalysis(again())).equals(bytes)).toBe(true);
        const random = new Random(SEED);
        for (let i = 0; i < TRACES; i++) {
          const counts = hooks === 'none' ? countsOf(random, fresh) : undefined;
          const trace = traceOf(random, fresh, { known: i !== 1, unique: i === 2 });
          const made = (program: Program): Coverage =>
            counts ? Coverage.exact(program.elf, counts, 'one', () => program) : new Coverage(trace, program);
          const read = again();
          const [wanted, found] = [reportsOf(() => made(fresh)), reportsOf(() => made(read))];
          const differing = Object.keys(wanted).filter(format => found[format] !== wanted[format]);
          expect(differing, `trace ${i}, seed ${seedText(SEED)}`).toEqual([]);
        }
      },
    );
});

it('lists that the writer does not make are refused, before one of them takes memory', () => {
  const wrong = (ends: readonly number[]) => () => new Lists(new Uint32Array(3), Uint32Array.from(ends));
  expect(new Lists(Uint32Array.of(7, 8, 9), Uint32Array.of(0, 2, 3)).of(1)).toEqual([7, 8]);
  for (const ends of [[0, 2], [2, 1, 3], [0, 2 ** 32 - 1, 3], [0, 4], []])
    expect(wrong(ends)).toThrow(/^lists of a kept analysis that/);
});

describe.skipIf(reason)('the cache of analyses', () => {
  const dir = scratch();
  const cache = join(dir, 'cache');
  const folder = join(cache, 'lines');
  const kept = (): string[] => readdirSync(folder).map(name => join(folder, name));
  const hello = join(ROOT, 'examples', 'hello.c');
  const words = (target: string, format: string, how = '--trace') => [
    ...['run', how, '--cover', target, '--format', format, hello],
  ];
  /** The output of a command that has nothing else to say. */
  const report = (format: string, how?: string): string => {
    const target = join(dir, `report.${format}`);
    expect(kcovbox(words(target, format, how), { cwd: dir })).toMatchObject({ status: 0, stderr: '' });
    return readFileSync(target, 'latin1');
  };

  beforeAll(async () => {
    useOwnCache(cache);
    kcovbox(['--version'], { cwd: dir }); // builds the bundle where it is stale
  }, 300_000);
  afterAll(() => {
    delete process.env['KCOVBOX_CACHE'];
  });

  it('changes no byte of a report: absent, empty, filled', { timeout: 300_000 }, () => {
    const exact = ['json', 'html'].map(format => [format, '--exact']);
    for (const [format = '', how] of [...[...FORMATS, 'source'].map(format => [format]), ...exact]) {
      rmSync(folder, { recursive: true, force: true });
      writeFileSync(folder, ''); // where no file can be made, also by root
      const wanted = report(format, how);
      rmSync(folder);
      expect(report(format, how) === wanted, `${format}, empty`).toBe(true);
      expect(report(format, how) === wanted, `${format}, filled`).toBe(true);
    }
  });

  it('serves reports of traces, and differences', { timeout: 300_000 }, () => {
    const trace = join(dir, 'a.kcov');
    expect(kcovbox(words(trace, 'kcov'), { cwd: dir }).status).toBe(0);
    const commands = [
      ['report'],
      ['report', '-F', 'kernel/fs/*'],
      ['diff', trace],
      ['export', '--format', 'lcov'],
    ];
    for (const how of commands) {
      rmSync(folder, { recursive: true, force: true });
      const [first, again] = [0, 1].map(() => kcovbox(['cov', ...how, trace, '-o', '-'], { cwd: dir }));
      expect(first!.status, how.join(' ')).toBe(0);
      expect(first!.stdout).not.toBe('');
      expect(again!.stdout === first!.stdout, how.join(' ')).toBe(true);
      // A selection needs an analysis of its own.
      expect(existsSync(folder)).toBe(!how.includes('-F'));
    }
  });

  it('is made again where it is damaged, or of another image or version', { timeout: 300_000 }, async () => {
    rmSync(folder, { recursive: true, force: true });
    const wanted = report('html');
    const [path = ''] = kept();
    expect(kept()).toEqual([path]);
    const good = readFileSync(path);
    const elf = new Elf(await imageOf('openbsd'), 'kernel');
    const others = join(cache, 'others');
    process.env['KCOVBOX_CACHE'] = others;
    programOf(elf, 'pc', 'another version');
    programOf(new Elf(await imageOf(prebuilt('linux+teach')), 'kernel'), 'pc', 'one version');
    process.env['KCOVBOX_CACHE'] = cache;
    const foreign = readdirSync(join(others, 'lines')).map(name => join(others, 'lines', name));
    expect(foreign.length).toBe(2);
    const flipped = (at: number) => good.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const damage: [string, Uint8Array][] = [
      ...[0, 4, good.length >> 2, good.length >> 1, good.length - 65, good.length - 1].map(
        (at): [string, Uint8Array] => [`bit 0 of byte ${at}`, flipped(at)],
      ),
      ['without its end', good.subarray(0, good.length - 1)],
      ['half', good.subarray(0, good.length >> 1)],
      ['nothing', new Uint8Array(0)],
      ...foreign.map((file): [string, Uint8Array] => ['another file', readFileSync(file)]),
    ];
    for (const [what, bytes] of damage) {
      writeFileSync(path, bytes);
      expect(report('html') === wanted, what).toBe(true);
      expect(readFileSync(path).equals(good), what).toBe(true);
    }
    // A good one is not written again.
    const { ino } = statSync(path);
    expect(report('html') === wanted).toBe(true);
    expect(statSync(path).ino).toBe(ino);
  });

  it('is shared by commands that run at once', { timeout: 300_000 }, async () => {
    const wanted = report('json');
    rmSync(folder, { recursive: true, force: true });
    const ends = [0, 1, 2].map(
      i =>
        new Promise<number | null>(resolve => {
          const target = join(dir, `at-once-${i}`);
          spawn(process.execPath, [COMMAND, ...words(target, 'json')], { stdio: 'ignore' }).on(
            'exit',
            resolve,
          );
        }),
    );
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    for (const i of [0, 1, 2])
      expect(readFileSync(join(dir, `at-once-${i}`), 'latin1') === wanted, `${i}`).toBe(true);
    expect(kept().length).toBe(1);
  });

  it('is listed and pruned, and holds the newest', { timeout: 300_000 }, async () => {
    const elf = new Elf(await imageOf(prebuilt('linux+teach')), 'kernel');
    for (let version = 0; version < 18; version++) programOf(elf, 'pc', `${version}`);
    expect(kept().length).toBe(16);
    const list = kcovbox(['cache', 'ls'], { cwd: dir }).stdout;
    expect(list.match(/ lines +[0-9a-f]{64}$/gm)?.length).toBe(16);
    for (const path of kept()) utimesSync(path, new Date(0), new Date(0));
    writeFileSync(join(folder, 'mine'), '');
    expect(kcovbox(['cache', 'prune'], { cwd: dir }).status).toBe(0);
    expect(kept()).toEqual([join(folder, 'mine')]);
  });
});
