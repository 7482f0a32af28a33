// `kcovbox debug` beside GDB: frames and variables of random programs at random moments.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDebugger } from '../../../cli/debug/open.ts';
import type { Frame } from '../../../debug/frames.ts';
import type { DebugSession } from '../../../debug/session.ts';
import { nthEvent } from '../../../emulator/index.ts';
import { kcovbox } from '../../support/command.ts';
import type { Random } from '../../support/random.ts';
import { talk } from '../overrun.ts';

interface Seen {
  readonly function: string;
  readonly line: number;
  readonly pc: string;
  readonly variables: readonly (readonly [name: string, value: string])[];
}

interface Stack {
  readonly moment: number;
  readonly hart: number;
  readonly frames: readonly Seen[];
}

export interface Compared {
  readonly stacks: number;
  readonly kernelStacks: number;
  readonly frames: number;
  readonly variables: number;
  /** Of the variables, those that neither debugger has. */
  readonly optimisedOut: number;
  /** GDB reports a fault in the expression. */
  readonly notRead: number;
  /** Stacks that would differ if one of the two were a unit later. */
  readonly skewed: number;
  /** GDB has a value and we have none: of a piece and nothing, it fills the rest with zeros. */
  readonly unknown: readonly string[];
  readonly differences: readonly string[];
}

const OUT = '<optimised out>';

export interface Recorded {
  readonly dir: string;
  readonly capsule: string;
  readonly session: DebugSession;
  readonly start: number;
}

/** Records the program `text`, and leaves its images for GDB in `dir`. */
export async function recordProgram(
  dir: string,
  text: string,
  cflags: string,
  smp: number,
): Promise<Recorded> {
  const capsule = join(dir, 'random.kcapsule');
  writeFileSync(join(dir, 'random.c'), text);
  const args = ['run', '--smp', `${smp}`, '--cflags', cflags, '--record', capsule, 'random.c'];
  const { status, stderr } = kcovbox(args, { cwd: dir });
  if (status !== 0) throw new Error(`status ${status}: ${stderr}\n${text}`);
  const { session, start } = await openDebugger(capsule, [], { engine: 'jit' }, () => {});
  for (const { name, elf } of session.images) writeFileSync(join(dir, `${name}.elf`), elf.bytes);
  return { dir, capsule, session, start };
}

/** Half of them inside the program's functions, a quarter soon behind a system call. */
function randomMoments({ session, start }: Recorded, random: Random, count: number): number[] {
  const { timeline } = session;
  timeline.end();
  const end = timeline.position;
  const calls = [0, 1].flatMap(n => session.moments(`f${n}`, 200));
  const place = (i: number): number => {
    if (i % 2 === 0) return random.pick(calls).unit + random.below(60);
    const trap = i % 4 === 1 ? nthEvent(timeline, 'syscall', 1 + random.below(40)) : undefined;
    return trap ? trap.unit + random.below(800) : start + random.below(end - start);
  };
  return Array.from({ length: count }, (_, i) => Math.min(place(i), end - 1)).sort((a, b) => a - b);
}

/**
 * Values by name: a name may belong to several blocks. Of a block that the compiler removed, GDB
 * has the names, also beside the variables of the same block where it was inlined.
 */
function byName(variables: Seen['variables']): Map<string, string> {
  const found = new Map<string, Set<string>>();
  for (const [name, value] of variables) {
    const values = found.get(name) ?? new Set();
    found.set(name, values.add(value));
  }
  for (const values of found.values()) if (values.size > 1) values.delete(OUT);
  return new Map([...found].map(([name, values]) => [name, [...values].toSorted().join(', ')]));
}

/** The frames up to the first one without debug information: behind it both debuggers guess. */
function ourFrames(session: DebugSession): Seen[] {
  const { frames } = session;
  const unknown = frames.findIndex(({ scope }) => scope === undefined);
  return frames.slice(0, unknown < 0 ? undefined : unknown).map((frame: Frame, level) => {
    session.selectFrame(level);
    const variables = session.locals.map((variable): [string, string] => {
      const value = session.valueOf(variable);
      return [variable.name, value ? session.show(value) : OUT];
    });
    return { function: frame.function, line: frame.line, pc: `0x${frame.pc.toString(16)}`, variables };
  });
}

/**
 * Between here and `ret` only registers are restored: the debug information, and so GDB, has the
 * frame until the end, though sp and ra may be the caller's already. Compilers use compressed
 * instructions there: c.addi, c.addi16sp, c.ldsp, c.fldsp, c.jr ("C" extension, 16.3 and 16.5).
 */
function isEpilogue(session: DebugSession): boolean {
  for (let at = session.innermost.pc, n = 0; n < 40; at += 2n, n++) {
    const bytes = session.read(at, 2);
    const code = bytes ? bytes[0]! | (bytes[1]! << 8) : 0;
    if (code === 0x8082) return true;
    const isAdd = (code & 0xff83) === 0x0101 || (code & 0xef83) === 0x6101;
    const isLoad = (code & 0xe003) === 0x6002 || (code & 0xe003) === 0x2002;
    if (!isAdd && !isLoad) return false;
  }
  return false;
}

async function gdbStacks({ dir, capsule }: Recorded, moments: readonly number[]): Promise<Stack[]> {
  const script = join(import.meta.dirname, 'frames.py');
  const { gdb } = await talk(
    { dir, capsule, program: join(dir, 'program.elf') },
    [
      'set remotetimeout 600', // of a loaded host
      `add-symbol-file ${join(dir, 'kernel.elf')}`,
      `python MOMENTS = [${moments.join(', ')}]`,
      `source ${script}`,
      'kill',
    ],
    600,
  );
  const stacks = gdb
    .split('\n')
    .filter(line => line.startsWith('FRAMES '))
    .map(line => JSON.parse(line.slice(7)) as Stack);
  if (stacks.length < moments.length) throw new Error(gdb.slice(-3000));
  return stacks;
}

/** Compares all harts at `count` random moments of a program. */
export async function compareWithGdb(
  dir: string,
  random: Random,
  { text, cflags, smp, count }: { text: string; cflags: string; smp: number; count: number },
): Promise<Compared> {
  const recorded = await recordProgram(dir, text, cflags, smp);
  const { session } = recorded;
  const moments = randomMoments(recorded, random, count);
  const sum = { stacks: 0, kernelStacks: 0, frames: 0, variables: 0, optimisedOut: 0, notRead: 0, skewed: 0 };
  const differences: string[] = [];
  const unknown: string[] = [];
  for (const { moment, hart, frames } of await gdbStacks(recorded, moments)) {
    session.goto(moment + 1, hart);
    const later = session.frames[0]!.pc;
    session.goto(moment, hart);
    if (isEpilogue(session)) {
      sum.stacks++;
      continue;
    }
    const ours = ourFrames(session);
    if (later !== session.frames[0]!.pc) sum.skewed++;
    const differ = (what: string, own: unknown, theirs: unknown): void => {
      differences.push(
        `unit ${moment}, hart ${hart}: ${what}: ${JSON.stringify(own)}, gdb ${JSON.stringify(theirs)}`,
      );
    };
    // Line 0 says that the code belongs to no line; GDB takes the row before it.
    const place = ({ function: name, line, pc }: Seen, level: number): string =>
      `${name}:${ours[level]?.line === 0 ? 0 : line} ${pc}`;
    const [own, theirs] = [ours.map(place), frames.map(place)];
    sum.stacks++;
    if (session.frames[0]!.image?.name === 'kernel') sum.kernelStacks++;
    if (own.join() !== theirs.join()) {
      differ('frames', own, theirs);
      continue;
    }
    sum.frames += own.length;
    for (const [level, { variables }] of ours.entries()) {
      const own = byName(variables);
      const wanted = byName(frames[level]!.variables);
      for (const name of new Set([...own.keys(), ...wanted.keys()])) {
        const [value, theirs] = [own.get(name), wanted.get(name)];
        const what = `frame ${level}, ${place(ours[level]!, level)}, ${name}`;
        sum.variables++;
        if (theirs === '<not read by gdb>') sum.notRead++;
        else if (value === theirs) sum.optimisedOut += value === OUT ? 1 : 0;
        else if (value === OUT && theirs !== undefined)
          unknown.push(`unit ${moment}: ${what}, gdb ${theirs}`);
        else if (value !== undefined || theirs !== OUT) differ(what, value, theirs);
      }
    }
  }
  return { ...sum, unknown, differences };
}
