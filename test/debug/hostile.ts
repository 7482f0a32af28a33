// The questions of a user to a debugger whose images may be hostile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Section } from '../../coverage/elf/elf.ts';
import { Image } from '../../debug/image.ts';
import { DebugSession } from '../../debug/session.ts';
import { KcovboxError } from '../../emulator/index.ts';
import { Random, seedText } from '../support/random.ts';
import { recordProgram } from './search/compare.ts';
import { randomProgram } from './search/program.ts';

/** Answers, and the lines of the questions that had none. Errors: whatever is not one line. */
export function askEverything(session: DebugSession): { lines: string[]; answers: string[] } {
  const lines: string[] = [];
  const answers: string[] = [];
  const ask = (question: () => readonly string[]): void => {
    try {
      answers.push(...question());
    } catch (error) {
      if (!(error instanceof KcovboxError)) throw error;
      lines.push(error.message);
    }
  };
  ask(() => session.frames.map(frame => frame.function));
  for (let level = 0; level < 4; level++)
    ask(() => {
      session.selectFrame(level);
      return session.locals.map(variable => {
        const value = session.valueOf(variable);
        return `${variable.name} = ${value ? session.show(value) : '<optimised out>'}`;
      });
    });
  for (const text of [
    'v',
    'v.x',
    'v->next',
    'v[3]',
    '*v',
    '&v',
    '(long)v',
    '(struct loop *)1',
    'nothing',
    'w',
  ])
    ask(() => [session.show(session.evaluate(text))]);
  for (const place of ['main', 'a.c:3', 'f0']) ask(() => [`${place}: ${session.find(place).length}`]);
  for (const image of session.images)
    ask(() => [`${[...image.functionNames].length} functions, ${image.statements.size} statements`]);
  return { lines, answers };
}

const SECONDS_MAX = 5;
const VALUES = [0, 0xff, 0x7f, 0x80, 1, 0x16, 0x93, 0x9f, 0x2f];

/** Changes bytes, ranges and neighbours in sections of debug information. */
function damaged(whole: Uint8Array, targets: readonly Section[], random: Random): Uint8Array {
  const bytes = Uint8Array.from(whole); // slice() of a Buffer is not a copy
  for (let n = 1 + random.below(2); n > 0; n--) {
    const { offset, size } = random.pick(targets);
    const at = offset + random.below(size);
    const left = offset + size - at;
    const way = random.below(5);
    if (way === 0) bytes.fill(random.pick(VALUES), at, at + Math.min(left, 1 + random.below(40)));
    else if (way === 1) {
      const from = offset + random.below(size);
      bytes.copyWithin(at, from, from + Math.min(left, offset + size - from, 1 + random.below(60)));
    } else bytes[at] = way < 4 ? random.pick(VALUES) : random.below(256);
  }
  return bytes;
}

/**
 * Asks everything of `count` damaged images of a random program, each at one moment of its run.
 * Errors: the first image with something else than an answer or one line, or that takes more than
 * five seconds of the processor.
 */
export async function searchDamaged(
  seed: number,
  count: number,
): Promise<{ images: number; refused: number; answers: number }> {
  const random = new Random(seed);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-damaged-'));
  const sum = { images: 0, refused: 0, answers: 0 };
  try {
    for (let i = 0; i < count; ) {
      // DWARF 4 has other lists of locations and ranges than DWARF 5, the default.
      const cflags = `${random.pick(['-O1', '-O2'])}${random.oneIn(2) ? ' -gdwarf-4' : ''}`;
      const { session } = await recordProgram(dir, randomProgram(random, 4), cflags, 1);
      const [program, kernel] = session.images as [Image, Image];
      session.timeline.end();
      const moments = session.moments('f0', 100);
      const { sections, bytes } = program.elf;
      // A fault in these is found when the image is opened; the others lead further.
      const isFirst = (name: string): boolean => /^\.debug_(abbrev|str)/.test(name);
      const all = sections.filter(({ name, size }) => /^\.(debug_|eh_frame)/.test(name) && size > 0);
      const later = all.filter(({ name }) => !isFirst(name));
      const targets = [...all, ...later, ...later, ...later];
      for (const end = Math.min(count, i + 250); i < end; i++) {
        const image = damaged(bytes, targets, random);
        const moment = random.pick(moments);
        const unit = moment.unit + random.below(60);
        session.goto(unit, moment.hart);
        const before = process.cpuUsage().user;
        const name = `seed ${seedText(seed)}, image ${i}, unit ${unit}`;
        try {
          const { lines, answers } = askEverything(
            new DebugSession(session.timeline, [new Image(image, 'program'), kernel]),
          );
          sum.refused += lines.length;
          sum.answers += answers.length;
          for (const line of lines) if (!/^[^\n]{5,300}$/.test(line)) throw new Error(line);
        } catch (error) {
          if (!(error instanceof KcovboxError)) throw new Error(name, { cause: error });
          sum.refused++;
        }
        const seconds = (process.cpuUsage().user - before) / 1e6;
        if (seconds > SECONDS_MAX) throw new Error(`${name}: ${seconds} s`);
        sum.images++;
      }
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return sum;
}
