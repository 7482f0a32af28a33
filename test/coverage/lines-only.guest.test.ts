/**
 * The image with the debug information of lines alone gives the answers of the whole image: frames
 * at every site and at random addresses, and the state of every line for random traces. The oracle
 * is the whole image, which llvm's tools check elsewhere.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Coverage, Elf, linesOnly, Program, pcOf, TraceBuilder } from '../../coverage/index.ts';
import { Image } from '../../debug/image.ts';
import { readElf } from '../../emulator/index.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from './support.ts';

const reason = missing('images of lines', 'clang-19', 'ld.lld-19');
const ADDRESSES = 20_000;
const TRACES = 3;

const loadedEnd = (bytes: Uint8Array): number =>
  Math.max(
    ...readElf(bytes, 'kernel').segments.map(({ data }) => data.byteOffset - bytes.byteOffset + data.length),
  );

const withoutColumns = <T extends { readonly column: number }>(frames: readonly T[]): T[] =>
  frames.map(frame => ({ ...frame, column: 0 }));

/** The first line whose state differs; undefined: none. */
function difference(points: readonly number[], whole: Program, part: Program): string | undefined {
  const coverageOf = (program: Program): Coverage => {
    const builder = new TraceBuilder({ dialect: 'linux', image: program.elf.imageId });
    const source = builder.source({ test: 'random' });
    for (const point of points) builder.pc(source, pcOf(whole.ret(point)));
    return new Coverage(builder.finish(), program);
  };
  const [a, b] = [coverageOf(whole), coverageOf(part)];
  for (const [i, file] of whole.files.entries()) {
    const other = part.files[i]!;
    if (file.path !== other.path) return `file ${file.path} is ${other.path}`;
    for (const [line, code] of file.lines) {
      const [wanted, got] = [code, other.lines.get(line)!].map((one, k) =>
        JSON.stringify((k ? b : a).line(one)),
      );
      if (wanted !== got) return `${file.path}:${line} is ${got}, not ${wanted}`;
    }
  }
  return undefined;
}

/** Fewer points with a difference, by halves. */
function shrunk(
  points: readonly number[],
  isDifferent: (points: readonly number[]) => boolean,
): readonly number[] {
  for (let size = points.length >> 1; size > 0; size >>= 1)
    for (let at = 0; at + size <= points.length; ) {
      const fewer = [...points.slice(0, at), ...points.slice(at + size)];
      if (isDifferent(fewer)) points = fewer;
      else at += size;
    }
  return points;
}

describe.skipIf(reason)('an image with the debug information of lines', () => {
  it.each(['openbsd', 'linux'])('answers as the whole %s kernel', async dialect => {
    const seed = seedFromEnvironment(0x11e50);
    const random = new Random(seed);
    const bytes = readFileSync((await buildKernel(dialect)).path);
    const reduced = linesOnly(bytes, loadedEnd(bytes));
    expect(reduced.length).toBeLessThan(bytes.length / 2);
    const [whole, part] = [bytes, reduced].map(image => new Program(new Elf(image, 'kernel'))) as [
      Program,
      Program,
    ];
    expect(part.functions.map(({ name, file, line }) => ({ name, file, line }))).toEqual(
      whole.functions.map(({ name, file, line }) => ({ name, file, line })),
    );
    for (let point = 0; point < whole.count; point++)
      expect(part.frames(point)).toEqual(withoutColumns(whole.frames(point)));
    const { addr, size } = whole.elf.executableSections()[0]!;
    for (let i = 0; i < ADDRESSES; i++) {
      const at = addr + 2 * random.below(size / 2);
      expect(part.symbolizer.frames(at), `seed ${seedText(seed)}`).toEqual(
        withoutColumns(whole.symbolizer.frames(at)),
      );
    }
    for (let i = 0; i < TRACES; i++) {
      const oneIn = 2 + random.below(20);
      const points = [...Array(whole.count).keys()].filter(() => random.oneIn(oneIn));
      const differs = (some: readonly number[]): boolean => difference(some, whole, part) !== undefined;
      if (!differs(points)) continue;
      const least = shrunk(points, differs);
      expect.fail(`seed ${seedText(seed)}: ${difference(least, whole, part)} with points ${least}`);
    }
    const [full, lines] = [bytes, reduced].map(image => new Image(image, 'kernel')) as [Image, Image];
    expect([...lines.statements]).toEqual([...full.statements]);
    for (const name of ['sys_read', 'kernel/fs/sys_rw.c:74', 'trap_handle']) {
      expect(full.find(name).length).toBeGreaterThan(0);
      expect(lines.find(name)).toEqual(full.find(name));
    }
  });

  it('refuses an image with another version of DWARF', async () => {
    const bytes = Uint8Array.from(readFileSync((await buildKernel('openbsd')).path));
    const { offset } = new Elf(bytes).section('.debug_info')!;
    new DataView(bytes.buffer).setUint16(offset + 4, 5, true);
    expect(() => linesOnly(bytes, loadedEnd(bytes))).toThrow();
  });
});
