// Compiles a workload for the guest (bare metal), for wasm32 and for the host, cached like everything else.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cached, packageRoot, requireTool, runTool, sha256 } from '../toolchain/index.ts';
import type { Workload } from './workloads.ts';

const COMMON = ['-O2', '-std=gnu17', '-fno-builtin', '-fno-math-errno', '-Wall', '-Wextra', '-Werror'];

/** Where bench/ lies, for sources and the wasm frame. */
export const benchDir = (): string => join(packageRoot(), 'bench');

const definesOf = ({ defines = {}, warmUp, repeat }: Workload): string[] =>
  Object.entries({ ...defines, WARM_UP: warmUp, REPEAT: repeat }).map(
    ([name, value]) => `-D${name}=${value}`,
  );

async function compile(kind: string, args: readonly string[], sources: readonly string[]): Promise<string> {
  const inputs = [...sources, join(benchDir(), 'work', 'work.h')].filter(existsSync);
  const { path } = await cached('bench', sha256(kind, ...args, ...sources), async output => {
    await runTool(
      requireTool('clang'),
      [...args, ...sources, '-o', output],
      benchDir(),
      `bench workload for ${kind} does not compile`,
    );
    return inputs;
  });
  return path;
}

/** Bare-metal ELF for `-bios none`. */
export function buildGuest(w: Workload): Promise<string> {
  const target = [
    '--target=riscv64-unknown-elf',
    `-march=${w.march ?? 'rv64gc'}`,
    '-mabi=lp64d',
    '-mcmodel=medany',
  ];
  const script = join(benchDir(), 'guest', 'bench.ld');
  const link = ['-ffreestanding', '-nostdlib', '-static', '-fuse-ld=lld-19', '-T', script];
  const sources = ['guest/start.S', 'guest/main.c', `work/${w.file}`].map(f => join(benchDir(), f));
  return compile(
    'guest',
    [...target, ...COMMON, ...link, ...definesOf(w), ...(w.sv39 ? ['-DSV39'] : [])],
    sources,
  );
}

/** A wasm module that exports work(); big enough a memory for every workload. */
export function buildWasm(w: Workload): Promise<string> {
  const link = ['-nostdlib', '-Wl,--no-entry', '-Wl,--export=work', '-Wl,-z,stack-size=65536'];
  return compile(
    'wasm',
    // Copies and fills are instructions: there is no library that could have them as functions.
    ['--target=wasm32', '-mbulk-memory', ...COMMON, ...link, ...definesOf(w)],
    ['wasm-runtime.c', `work/${w.file}`].map(f => join(benchDir(), f)),
  );
}

/** A host program; vector instructions are off, because the guest has none. */
export function buildNative(w: Workload): Promise<string> {
  const sources = ['host.c', `work/${w.file}`].map(f => join(benchDir(), f));
  return compile('native', [...COMMON, '-fno-vectorize', '-fno-slp-vectorize', ...definesOf(w)], sources);
}
