/**
 * A selection chooses which lines and functions a report shows. Its verdicts on them are those of
 * the whole image, whatever code of theirs lies outside of it.
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Coverage, Program } from '../../coverage/index.ts';
import type { KeepPoint } from '../../coverage/model/keep.ts';
import { missing } from './support.ts';
import { kernelImage, truthOf } from './truth.ts';

const reason = missing('selections', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const source = resolve(import.meta.dirname, '../../guest-programs/tests/pipes.c');

const inFile =
  (pattern: RegExp): KeepPoint =>
  ({ frames }) =>
    pattern.test(frames[0]!.file);
const inFunction =
  (pattern: RegExp): KeepPoint =>
  ({ frames }) =>
    frames.some(frame => pattern.test(frame.function));

const SELECTIONS: [string, KeepPoint][] = [
  ['a function', inFunction(/^take_identity$/)],
  ['system calls', inFunction(/^sys_/)],
  ['headers', inFile(/include\//)],
  ['a file', inFile(/fs\/pipe\.c$/)],
  ['addresses', ({ call }) => Math.abs(call / 0x1000) % 64 < 4],
];

describe.skipIf(reason)('a selection does not change a verdict', () => {
  it('on any line or function that it shows', async () => {
    const { program } = await kernelImage('openbsd');
    const { trace } = await truthOf(source, { dialect: 'openbsd' });
    const whole = new Coverage(trace, program);
    const fileOf = new Map(program.files.map(file => [file.path, file]));
    for (const [name, keep] of SELECTIONS) {
      const part = new Coverage(trace, new Program(program.elf, { keep }));
      let [lines, functions] = [0, 0];
      for (const file of part.program.files) {
        const other = fileOf.get(file.path)!;
        for (const [line, code] of file.lines) {
          const { state, hits, isLeast } = whole.line(other.lines.get(line)!);
          expect(part.line(code), `${name}: ${file.path}:${line}`).toEqual({ state, hits, isLeast });
          lines++;
        }
        for (const fn of file.functions) {
          const same = other.functions.find(one => one.name === fn.name && one.line === fn.line)!;
          expect(part.functionCalls(fn), `${name}: ${fn.name}`).toEqual(whole.functionCalls(same));
          functions++;
        }
      }
      expect(lines, name).toBeGreaterThan(5);
      expect(lines, name).toBeLessThan(program.files.reduce((sum, file) => sum + file.lines.size, 0));
      expect(functions, name).toBeGreaterThan(0);
    }
  });
});
