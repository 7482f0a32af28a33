// Compiles a workload for the guest (bare metal), for wasm32 and for the host, cached like
// everything else.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, packageRoot, requireTool, runTool, sha256OfParts } from '../toolchain/index.ts';
import type { KcovSetting, Workload } from './workloads.ts';

const COMMON = ['-O2', '-std=gnu17', '-fno-builtin', '-fno-math-errno', '-Wall', '-Wextra', '-Werror'];

/** The folder bench/, for sources and the wasm host program. */
export const benchDir = (): string => join(packageRoot(), 'bench');

const definesOf = ({ defines = {}, warmUp, repeat }: Workload): string[] =>
  Object.entries({ ...defines, WARM_UP: warmUp, REPEAT: repeat }).map(
    ([name, value]) => `-D${name}=${value}`,
  );

/** All inputs that may change a result; their contents are part of the cache key. */
const HEADERS = ['programs/work.h', 'guest/kcov.h', 'guest/memlayout.h', 'guest/bench.ld'].map(f =>
  join(benchDir(), f),
);

async function compile(kind: string, args: readonly string[], sources: readonly string[]): Promise<string> {
  const inputs = [...sources, ...HEADERS].filter(existsSync);
  const { path } = await cached(
    'bench',
    sha256OfParts(kind, ...args, ...sources),
    { label: kind },
    async output => {
      await runTool(
        requireTool('clang'),
        [...args, ...sources, '-o', output],
        benchDir(),
        `bench workload for ${kind} does not compile`,
      );
      return inputs;
    },
  );
  return path;
}

const guestFlags = (w: Workload): readonly string[] => [
  ...['--target=riscv64-unknown-elf', `-march=${w.march ?? 'rv64gc'}`, '-mabi=lp64d', '-mcmodel=medany'],
  ...['-ffreestanding', ...COMMON],
  ...definesOf(w),
  ...(w.sv39 ? ['-DSV39'] : []),
];

const guestLink = (): readonly string[] => [
  ...['-nostdlib', '-static', `--ld-path=${requireTool('ld')}`, '-T', join(benchDir(), 'guest', 'bench.ld')],
];

const program = ({ name, file }: Workload): string => {
  if (file === undefined) throw new RangeError(`${name} is not a program`);
  return `programs/${file}`;
};

const inBench = (...files: readonly string[]): readonly string[] => files.map(f => join(benchDir(), f));

/** Bare-metal ELF for `-bios none`. */
export async function buildGuest(w: Workload): Promise<string> {
  if (w.kcov) return buildTraced(w, w.kcov);
  return compile(
    'guest',
    [...guestFlags(w), ...guestLink()],
    inBench('guest/start.S', 'guest/main.c', program(w)),
  );
}

/** A call as the compiler writes it; with -mno-relax it stays two instructions of four bytes. */
const HOOK_CALL = /^\s*call\s+__sanitizer_cov_trace_\w+$/gm;
const NOTHING = '\t.option push\n\t.option norvc\n\tnop\n\tnop\n\t.option pop';

/**
 * With the kernel's own hooks: the workload is instrumented like kernel code, the hooks are not.
 */
async function buildTraced(w: Workload, kcov: KcovSetting): Promise<string> {
  const kernel = join(packageRoot(), 'kernel');
  const flags = [...guestFlags(w), '-mno-relax', `-DKCOV_MODE=${kcov.mode}`];
  const instrument = kcov.instrument ? [`-fsanitize-coverage=${kcov.instrument}`] : [];
  const assembly = await compile('traced work', [...flags, ...instrument, '-S'], inBench(program(w)));
  const sources = [
    ...inBench('guest/start.S', 'guest/main.c', 'guest/kcov.c'),
    join(kernel, 'kcov/hooks.S'),
    ...['entry.S', 'record.c', 'seen.c'].map(f => join(kernel, 'opt/kcovguest', f)),
  ];
  // bench/guest comes first: its memlayout.h stands in for the kernel's.
  const include = [join(benchDir(), 'guest'), join(kernel, 'include'), kernel].flatMap(d => ['-I', d]);
  const args = [
    ...flags,
    ...guestLink(),
    '-DCONFIG_COVERAGE_HOOKS',
    '-DCONFIG_KCOV_GUEST=1',
    '-DCONFIG_PERSONALITY_LINUX',
    '-Wno-unused-parameter',
    ...include,
  ];
  const key = sha256OfParts('traced', `${kcov.isElided ?? false}`, ...args, readFileSync(assembly));
  const { path } = await cached('bench', key, { label: 'traced' }, async output => {
    const text = readFileSync(assembly, 'utf8');
    const work = `${output}.s`;
    writeFileSync(work, kcov.isElided ? text.replace(HOOK_CALL, NOTHING) : text);
    try {
      const all = [...args, ...sources, work, '-o', output];
      await runTool(requireTool('clang'), all, benchDir(), 'bench workload with hooks does not compile');
    } finally {
      rmSync(work, { force: true });
    }
    return [...sources, ...HEADERS];
  });
  return path;
}

/** A wasm module that exports work(); big enough a memory for every workload. */
export function buildWasm(w: Workload): Promise<string> {
  const link = ['-nostdlib', '-Wl,--no-entry', '-Wl,--export=work', '-Wl,-z,stack-size=65536'];
  return compile(
    'wasm',
    // Copies and fills are instructions: there is no library that could have them as functions.
    ['--target=wasm32', '-mbulk-memory', ...COMMON, ...link, ...definesOf(w)],
    ['wasm-runtime.c', program(w)].map(f => join(benchDir(), f)),
  );
}

/** A host program; vector instructions are off, because the guest has none. */
export function buildNative(w: Workload): Promise<string> {
  const sources = ['host.c', program(w)].map(f => join(benchDir(), f));
  return compile('native', [...COMMON, '-fno-vectorize', '-fno-slp-vectorize', ...definesOf(w)], sources);
}
