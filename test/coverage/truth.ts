/**
 * The truth about a run, from the engine: the instructions that retired while coverage was
 * recorded. The verdict of a coverage model on the same run is compared line by line. Addresses
 * become lines by llvm-symbolizer, not by our own reader.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Coverage,
  cleanPath,
  Elf,
  HOOK_PC,
  hex,
  type LineState,
  Program,
  type Trace,
} from '../../coverage/index.ts';
import { Verdicts } from '../../coverage/model/verdict.ts';
import { createMachine, type Machine, type MachineOptions } from '../../emulator/index.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { buildKernel, buildProgram, type Dialect } from '../../toolchain/index.ts';
import { initrd } from '../kernel/boot.ts';
import { FIXTURES, run } from './support.ts';

export interface Image {
  program: Program;
  path: string;
  /**
   * `file:line` of each instruction of instrumented functions, innermost first, with the calls that
   * were inlined; '' for none.
   */
  linesAt: Map<number, string[]>;
  low: number;
  high: number;
}

/** The image at `path`, with the lines of its instrumented code. */
export function openImage(path: string): Image {
  const program = new Program(new Elf(readFileSync(path), path));
  const { sites, flow } = program;
  const addrs: number[] = [];
  const seen = new Set<number>();
  for (let i = 0; i < sites.count; i++) {
    if (sites.hook[i] !== HOOK_PC) continue;
    const range = flow.rangeAt(sites.call[i]!)!;
    if (seen.has(range.low)) continue;
    seen.add(range.low);
    addrs.push(...flow.instructions(range));
  }
  const out = run('llvm-symbolizer-19', ['--output-style=JSON', `--obj=${path}`], {
    input: `${addrs.map(hex).join('\n')}\n`,
  });
  const linesAt = new Map<number, string[]>();
  for (const [i, text] of out.trim().split('\n').entries()) {
    const { Symbol: frames } = JSON.parse(text) as { Symbol: { FileName: string; Line: number }[] };
    linesAt.set(
      addrs[i]!,
      frames.map(f => (f.Line > 0 ? `${cleanPath(f.FileName)}:${f.Line}` : '')),
    );
  }
  return { program, path, linesAt, low: Math.min(...addrs), high: Math.max(...addrs) + 4 };
}

export interface Comparison {
  /** Lines that ran, and what the model says of them. */
  ran: number;
  shown: number;
  /** `file:line state (times)` for lines on which the model is wrong. */
  wrong: string[];
  /** Lines unknown to the model: those that ran, and those that did not. */
  unknownRan: string[];
  unknownIdle: string[];
  idle: number;
  exactCounts: number;
  wrongCounts: string[];
  inconsistent: string[];
  trace: Trace;
  /** By `file:line`: what the model says, and the executions of its own instructions. */
  states: Map<string, LineState>;
  own: Map<string, number>;
}

/**
 * Compare the verdict on every line with the counts of its instructions, by half-word from
 * `image.low`.
 */
export function compare(image: Image, trace: Trace, counts: BigUint64Array): Comparison {
  const { program } = image;
  const coverage = new Coverage(trace, program);
  const truth = new Map<string, number>();
  const own = new Map<string, number>();
  for (const [addr, lines] of image.linesAt) {
    const times = Number(counts[(addr - image.low) / 2]!);
    for (const line of lines) if (line) truth.set(line, Math.max(truth.get(line) ?? 0, times));
    if (lines[0]) own.set(lines[0], Math.max(own.get(lines[0]) ?? 0, times));
  }
  const result: Comparison = {
    ran: 0,
    shown: 0,
    wrong: [],
    unknownRan: [],
    unknownIdle: [],
    idle: 0,
    exactCounts: 0,
    wrongCounts: [],
    inconsistent: [],
    trace,
    states: new Map(),
    own,
  };
  for (const file of program.files) {
    for (const [line, code] of file.lines) {
      const name = `${file.path}:${line}`;
      const times = truth.get(name);
      const { state, hits, isLeast } = coverage.line(code);
      result.states.set(name, state);
      if (times === undefined) {
        result.wrong.push(`${name} has no code`);
        continue;
      }
      truth.delete(name);
      if (times > 0) {
        result.ran++;
        if (state === 'covered' || state === 'partly') result.shown++;
      } else result.idle++;
      const said = `${name} ${state} (${times})`;
      if (state === 'unknown') (times > 0 ? result.unknownRan : result.unknownIdle).push(said);
      else if ((state !== 'uncovered') !== times > 0) result.wrong.push(said);
      if (hits === undefined || state === 'unknown' || !own.has(name)) continue;
      const mine = own.get(name)!;
      if (!isLeast) result.exactCounts++;
      if (isLeast ? hits > Math.max(times, mine) : hits !== mine)
        result.wrongCounts.push(`${name} ${isLeast ? '>=' : ''}${hits} (${mine})`);
    }
  }
  for (const [name, times] of truth) if (times > 0) result.wrong.push(`${name} missing (${times})`);
  if (coverage.verdicts instanceof Verdicts) result.inconsistent.push(...coverage.verdicts.inconsistent());
  return result;
}

/**
 * Hooks whose retired calls are not as many as their records, those that found the buffer full
 * included. Not for modes that record each PC once.
 */
function unrecordedHooks({ program, low }: Image, trace: Trace, counts: BigUint64Array): string[] {
  const { sites, points } = program;
  const { hits } = new Coverage(trace, program);
  return Array.from(points, (site, point) => {
    const retired = Number(counts[(sites.call[site]! - low) / 2] ?? 0n);
    return retired === hits[point]
      ? ''
      : `${hex(sites.call[site]!)}: ${retired} ran, ${hits[point]} recorded`;
  }).filter(text => text !== '');
}

const images = new Map<string, Promise<Image>>();

/** The kernel of a configuration; opened once. */
export function kernelImage(conf: string): Promise<Image> {
  let image = images.get(conf);
  if (!image) {
    image = buildKernel(conf).then(({ path }) => openImage(path));
    images.set(conf, image);
  }
  return image;
}

export interface RunOptions {
  dialect: Dialect;
  harts?: number;
  unique?: boolean;
  args?: string;
  /** Trace the program from outside; false for one that enables kcov itself. */
  self?: boolean;
  budget?: number;
  /** Runs the machine in place of `budget`: to the place where the run is cut. */
  drive?: (machine: Machine) => void;
  schedSeed?: bigint;
}

/** Run a program of guest-programs/ traced, and compare. */
export async function truthOf(
  source: string,
  options: RunOptions,
): Promise<Comparison & { console: string; unrecorded: string[] }> {
  const {
    dialect,
    harts = 1,
    unique = false,
    args = '',
    self = true,
    budget = 2_000_000_000,
    drive = machine => void machine.run(budget),
    schedSeed,
  } = options;
  const image = await kernelImage(dialect);
  const header = join(FIXTURES, 'trace-self.h');
  const cflags = self
    ? ['-include', header, `-DTRACE_${dialect.toUpperCase()}`, `-DTRACE_MODE=${unique ? 1 : 0}`]
    : [];
  const built = await buildProgram(source, { dialect, cflags });
  const bytes = readFileSync(image.path);
  const recorder = new TraceRecorder(dialect, bytes, 'truth');
  let console = '';
  const machine = createMachine({
    kernel: { name: 'kernel', bytes },
    initrd: { name: 'initrd', bytes: initrd({ 'bin/t': readFileSync(built.path) }) },
    append: `init=/bin/t -- ${args}`,
    ramBytes: 256 << 20,
    harts,
    engine: 'interp',
    retired: {
      low: BigInt.asUintN(64, BigInt(image.low)),
      high: BigInt.asUintN(64, BigInt(image.high)),
      gate: 'kcov',
    },
    onConsole: byte => {
      console += String.fromCharCode(byte);
    },
    ...(schedSeed === undefined ? {} : { schedSeed }),
  } satisfies MachineOptions);
  recorder.attach(machine);
  drive(machine);
  const trace = recorder.finish();
  const counts = machine.retired!.read();
  const unrecorded = unique ? [] : unrecordedHooks(image, trace, counts);
  return { ...compare(image, trace, counts), unrecorded, console };
}

/** Lines unknown to the model, as a share of all. */
export function shareUnknown({ ran, idle, unknownRan, unknownIdle }: Comparison): number {
  return (unknownRan.length + unknownIdle.length) / (ran + idle);
}
