/**
 * Images for the tests of coverage/: a freestanding instrumented program (flags of the guest
 * kernel, upper-half addresses) and a static glibc program, built once per options into a temporary
 * directory. Absent compilers give a reason to print, never a silent skip.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { CallSites, Elf, pcOf, Symbolizer, type Trace, TraceBuilder } from '../../coverage/index.ts';

export const FIXTURES = resolve(import.meta.dirname, 'fixtures');

let scratchDir: string | undefined;

/** A directory that is removed after the test file. */
export function scratch(): string {
  if (!scratchDir) {
    const dir = mkdtempSync(join(tmpdir(), 'kcovbox-coverage-'));
    scratchDir = dir;
    afterAll(() => rmSync(dir, { recursive: true, force: true }));
  }
  return scratchDir;
}

export function hasTool(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Undefined when every tool is there, else the reason for a skip, which is printed. */
export function missing(what: string, ...tools: string[]): string | undefined {
  const absent = tools.filter(tool => !hasTool(tool));
  if (absent.length === 0) return undefined;
  const reason = `${what} skipped: ${absent.join(', ')} not installed`;
  console.warn(reason);
  return reason;
}

export function run(
  tool: string,
  args: string[],
  options: { cwd?: string; input?: string | Uint8Array } = {},
): string {
  return execFileSync(tool, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

const CFLAGS = [
  '--target=riscv64-unknown-elf', '-march=rv64imac_zicsr_zifencei', '-mabi=lp64', '-mcmodel=medany', '-ffreestanding',
  '-fno-pic', '-fno-common', '-O2', '-g', '-fno-omit-frame-pointer', '-ffunction-sections', '-fdata-sections', '-Wall',
]; // biome-ignore format: as on a command line

export interface BuildOptions {
  dwarf?: 4 | 5;
  relax?: boolean;
  buildId?: boolean;
  debug?: boolean;
  optimise?: string;
}

/** Build the fixture program; returns the path of the ELF file. */
export function buildFixture(options: BuildOptions = {}): string {
  const { dwarf = 4, relax = false, buildId = false, debug = true, optimise = '-O2' } = options;
  const dir = join(scratch(), `fixture-${dwarf}-${relax}-${buildId}-${debug}${optimise}`);
  const elf = join(dir, 'fixture.elf');
  if (existsSync(elf)) return elf;
  mkdirSync(dir, { recursive: true });
  const flags = [
    ...CFLAGS,
    optimise,
    `-gdwarf-${dwarf}`,
    relax ? '-mrelax' : '-mno-relax',
    `-ffile-prefix-map=${FIXTURES}=.`,
  ];
  if (!debug) flags.push('-g0');
  const objects: string[] = [];
  for (const unit of ['main', 'parse', 'lookup', 'hooks']) {
    const object = join(dir, `${unit}.o`);
    const hooks = unit === 'hooks' ? [] : ['-fsanitize-coverage=trace-pc,trace-cmp'];
    run('clang-19', [...flags, ...hooks, '-c', `${unit}.c`, '-o', object], { cwd: FIXTURES });
    objects.push(object);
  }
  const id = buildId ? '--build-id=sha1' : '--build-id=none';
  run('ld.lld-19', ['-X', '--gc-sections', id, '-T', join(FIXTURES, 'link.ld'), '-o', elf, ...objects]);
  return elf;
}

export function fixture(options: BuildOptions = {}): Elf {
  const path = buildFixture(options);
  return new Elf(readFileSync(path), path);
}

/** A static glibc program for riscv64, with debug information of its own unit. */
export function buildStatic(): string {
  const elf = join(scratch(), 'static.elf');
  if (existsSync(elf)) return elf;
  const source = join(scratch(), 'static.c');
  writeFileSync(
    source,
    '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' +
      'static int twice(int x) { return 2 * x; }\n' +
      'int main(int argc, char **argv) {\n  char b[64];\n  snprintf(b, sizeof b, "%d %s", twice(argc), argv[0]);\n' +
      '  if (strlen(b) > 40)\n    abort();\n  puts(b);\n  return 0;\n}\n',
  );
  run('clang-19', [
    '--target=riscv64-linux-gnu',
    '-static',
    '-fuse-ld=lld-19',
    '-O2',
    '-g',
    source,
    '-o',
    elf,
  ]);
  return elf;
}

/**
 * A trace of the fixture program made from its call sites: `run_all` calls `parse_number`, whose
 * loop runs twice, and `table_lookup`, which takes its default; two tests, the second of which
 * stays in `parse_number`. The rest is not covered.
 */
export function fixtureTrace(elf: Elf): Trace {
  const sites = new CallSites(elf);
  const symbolizer = new Symbolizer(elf);
  const inFunction = (name: string, hook: 'pc' | 'cmp') =>
    Array.from(sites.ret.keys())
      .filter(site => (sites.hook[site] === 0) === (hook === 'pc'))
      .filter(site => symbolizer.frames(sites.call[site]!).at(-1)!.function === name)
      .map(site => pcOf(sites.ret[site]!));
  const builder = new TraceBuilder({
    dialect: 'openbsd',
    image: elf.imageId,
    notes: { program: 'fixture' },
    flow: 'known',
  });
  const first = builder.source({ test: 'first test', process: 1, thread: 1, syscall: 63, call: 1 });
  const second = builder.source({ test: 'second', process: 1, thread: 1, syscall: 64, call: 2 });
  const run = inFunction('run_all', 'pc');
  const parse = inFunction('parse_number', 'pc');
  const lookup = inFunction('table_lookup', 'pc');
  builder.pc(first, run[0]!);
  for (const pc of parse.slice(0, 3)) builder.pc(first, pc);
  builder.pc(first, parse[2]!);
  builder.pc(first, lookup[0]!);
  builder.pc(first, lookup.at(-1)!);
  builder.pc(second, parse[0]!);
  builder.pc(second, parse[1]!);
  for (const pc of inFunction('parse_number', 'cmp').slice(0, 2)) builder.cmp(second, 5, 0x30n, 0x34n, pc);
  builder.lost(second, 3, { kind: 'cmp', pc: inFunction('parse_number', 'cmp')[0]! });
  return builder.finish();
}

export function bytesOf(chunks: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...chunks]));
}

export function textOf(chunks: Iterable<Uint8Array>): string {
  return Buffer.from(bytesOf(chunks)).toString('utf8');
}
