/**
 * Instrumented C functions on the bare machine: built with the hooks, called by a driver without
 * hooks; every retired instruction is counted. The counts of the hook calls make the trace; the
 * counts of all instructions are the truth that the model is compared with.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Coverage, type Elf, HOOK_PC, pcOf, TraceBuilder } from '../../coverage/index.ts';
import { Machine } from '../../emulator/index.ts';
import { differencesOf } from './exact.ts';
import { run, scratch } from './support.ts';
import { type Comparison, compare, openImage } from './truth.ts';

const FLAGS = [
  '--target=riscv64', '-march=rv64imac', '-mabi=lp64', '-mcmodel=medany', '-ffreestanding', '-fno-builtin', '-g', '-gdwarf-4', '-w',
]; // biome-ignore format: as on a command line

const DRIVER_HEAD = `
extern void done(void) __attribute__((noreturn));
void __sanitizer_cov_trace_pc(void) { __asm__ volatile(""); }
void done(void) { *(volatile int *)0x100000 = 0x5555; for (;;); }
void *memset(void *d, int c, unsigned long n) { char *p = d; while (n--) *p++ = c; return d; }
void *memcpy(void *d, const void *s, unsigned long n) { char *p = d; const char *q = s; while (n--) *p++ = *q++; return d; }
`;

/**
 * Builds `code` with hooks at `level` and `driver`, whose `main` calls it and then `done()`; runs
 * and compares.
 */
export function bareTruth(
  name: string,
  code: string,
  driver: string,
  level: string,
  cflags: readonly string[] = [],
): Comparison & { calls: CallRow[] } {
  const dir = join(scratch(), name);
  mkdirSync(dir, { recursive: true });
  const at = (file: string) => join(dir, file);
  writeFileSync(at('code.c'), code);
  writeFileSync(at('driver.c'), DRIVER_HEAD + driver);
  writeFileSync(at('start.S'), '.section .init,"ax"\n.globl _start\n_start: la sp, 0x80200000\n call main\n');
  run('clang-19', [
    ...FLAGS,
    level,
    ...cflags,
    '-fsanitize-coverage=trace-pc',
    '-c',
    at('code.c'),
    '-o',
    at('code.o'),
  ]);
  const rest = [
    '-nostdlib',
    '-static',
    '-fuse-ld=lld-19',
    '-Wl,-Ttext=0x80001000',
    '-Wl,--section-start=.init=0x80000000',
  ];
  run('clang-19', [
    ...FLAGS,
    '-O1',
    ...rest,
    at('start.S'),
    at('driver.c'),
    at('code.o'),
    '-o',
    at('bare.elf'),
  ]);
  const image = openImage(at('bare.elf'));
  let memory: Machine | undefined;
  const [counts, compiled] = (['interp', 'jit'] as const).map(engine => {
    const machine = Machine.create({
      kernel: { name: 'bare', bytes: readFileSync(at('bare.elf')) },
      bios: 'none',
      ramBytes: 4 << 20,
      engine,
      eager: true,
      retired: { low: BigInt(image.low), high: BigInt(image.high) },
    });
    const end = machine.run(20_000_000);
    if (end.kind !== 'exit') throw new Error(`the program did not end: ${end.kind}`);
    memory = machine;
    return machine.retired!.read();
  }) as [BigUint64Array, BigUint64Array];
  const { sites, elf } = image.program;
  const { differences } = differencesOf(image.program, BigInt(image.low), compiled, counts);
  if (differences.length > 0) throw new Error(`the engines count differently: ${differences.join('; ')}`);
  const builder = new TraceBuilder({ image: elf.imageId, flow: 'known' });
  const source = builder.source({ test: name });
  for (let i = 0; i < sites.count; i++) {
    const hits = Number(counts[(sites.call[i]! - image.low) / 2]);
    if (sites.hook[i] === HOOK_PC && hits > 0)
      builder.lost(source, hits, { kind: 'pc', pc: pcOf(sites.ret[i]!) });
  }
  const trace = builder.finish();
  const truth = timesOf(elf, address => memory!.ram.read32(address));
  const calls = [
    ...callRows('records', new Coverage(trace, image.program), truth),
    ...callRows('exact', Coverage.exact(elf, { low: BigInt(image.low), counts }, name), truth),
  ];
  return { ...compare(image, trace, counts), calls };
}

export interface CallRow {
  by: 'records' | 'exact';
  name: string;
  hits: number;
  isLeast: boolean;
  /** The calls that the function itself counted. */
  truth: number;
}

/** The counters of the program: the words `times_NAME` by NAME. */
function timesOf({ symbols }: Elf, read: (address: number) => number): Map<string, number> {
  const times = new Map<string, number>();
  for (let i = 0; i < symbols.count; i++) {
    const [, name] = /^times_(\w+)$/.exec(symbols.name(i)) ?? [];
    if (name) times.set(name, read(symbols.addr[i]!) >>> 0);
  }
  return times;
}

function callRows(by: CallRow['by'], coverage: Coverage, times: Map<string, number>): CallRow[] {
  return coverage.program.functions.flatMap(fn => {
    const truth = times.get(fn.name);
    return truth === undefined ? [] : [{ by, name: fn.name, ...coverage.functionCalls(fn), truth }];
  });
}

/** Rows whose number is not true. */
export const wrongCalls = (rows: readonly CallRow[]): string[] =>
  rows
    .filter(({ hits, isLeast, truth }) => (isLeast ? hits > truth : hits !== truth))
    .map(({ by, name, hits, isLeast, truth }) => `${by}: ${name} ${isLeast ? '>=' : ''}${hits} (${truth})`);
