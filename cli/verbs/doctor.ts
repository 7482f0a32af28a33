// `kcovbox doctor`: checks for everything that the other verbs need, and prints the commands that
// install the rest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import colors from 'picocolors';
import { canSandbox } from '../../host/lab/sandbox.ts';
import {
  APT_INSTALL,
  cacheDir,
  clangVersion,
  DEBIAN,
  DIALECTS,
  findTool,
  GLIBC_ROOT,
  hasGlibc,
  hasPrebuiltKernels,
  kernelConfigs,
  makeWritable,
  packageRoot,
  type Tool,
  which,
} from '../../toolchain/index.ts';

/** Colours are for terminals; a CI variable does not make one. */
const pc = colors.createColors(process.stdout.isTTY === true);

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** The result, or the remedy. */
  readonly detail: string;
  /** Packages of Debian and Ubuntu that contain it. */
  readonly packages?: string;
  /** Only tests and comparisons need it. */
  readonly optional?: boolean;
}

const INSTALL = `${APT_INSTALL} -y --no-install-recommends`;

/** The folder of built kernels and programs. */
function cacheFinding(): Finding {
  let folder = 'there is no home folder, so the cache';
  try {
    folder = cacheDir();
    makeWritable(folder);
    return { what: CACHE, ok: true, detail: folder };
  } catch {
    const detail = `${folder} cannot be written; set KCOVBOX_CACHE to a writable folder`;
    return { what: CACHE, ok: false, detail };
  }
}

const NODE = 'Node.js 20 or newer';
const CACHE = 'cache folder';
const CLANG = 'clang 16 or newer for riscv64';
const LIBC = 'riscv64 C library';

/** A group of commands, and the findings that all of it needs. */
interface Job {
  readonly what: string;
  readonly needs: readonly string[];
}

const TO_BUILD_KERNELS = [CLANG, 'ld.lld', 'llvm-nm', 'make'];

/** The first one is the main job. */
const jobs = (hasKernels: boolean): Job[] => [
  {
    what: `demo, run ELF, boot, replay, cov, symbolize${hasKernels ? '' : ' (a checkout builds its kernels)'}`,
    needs: [NODE, CACHE, ...(hasKernels ? [] : TO_BUILD_KERNELS)],
  },
  { what: 'run prog.c, run --trace', needs: [NODE, CACHE, CLANG, 'ld.lld', LIBC] },
  { what: 'kernels of other configurations, --kernel-source', needs: [NODE, CACHE, ...TO_BUILD_KERNELS] },
];

/** One line for each job. */
function* describeJobs(all: readonly Job[], rows: readonly Finding[]): Generator<string> {
  for (const { what, needs } of all) {
    const missing = rows.filter(row => !row.ok && needs.includes(row.what)).map(row => row.what);
    yield missing.length === 0 ? `works:  ${what}` : `cannot: ${what}; needs ${missing.join(', ')}`;
  }
}

function findings(): Finding[] {
  const [major] = process.versions.node.split('.');
  const found = (what: string, path: string | undefined, pkg: string, optional = false): Finding => ({
    what,
    ok: path !== undefined,
    detail: path ?? `${INSTALL} ${pkg}`,
    packages: pkg,
    optional,
  });
  const tool = (name: Tool, what: string, pkg: string): Finding => {
    try {
      return found(what, findTool(name), pkg);
    } catch (error) {
      // KCOVBOX_CLANG names an unsuitable compiler.
      return { what, ok: false, detail: (error as Error).message };
    }
  };
  return [
    { what: NODE, ok: Number(major) >= 20, detail: process.version },
    { what: 'WebAssembly tail calls', ok: hasTailCalls(), detail: 'used by the region JIT', optional: true },
    tool('clang', CLANG, DEBIAN.clang),
    tool('ld', 'ld.lld', DEBIAN.ld),
    tool('nm', 'llvm-nm', DEBIAN.nm),
    tool('make', 'make', DEBIAN.make),
    {
      what: LIBC,
      ok: hasGlibc(),
      detail: hasGlibc() ? GLIBC_ROOT : `${INSTALL} ${DEBIAN.glibc}`,
      packages: DEBIAN.glibc,
    },
    cacheFinding(),
    found('qemu-system-riscv64', which('qemu-system-riscv64'), DEBIAN.qemu, true),
    sandboxFinding(),
  ];
}

/** Of `grade`. */
function sandboxFinding(): Finding {
  const what = 'bubblewrap, for grade';
  const path = which('bwrap');
  const ok = path !== undefined && canSandbox();
  const remedy =
    path === undefined
      ? `${INSTALL} ${DEBIAN.bwrap}`
      : `${path} may not make a sandbox here, as in containers`;
  return { what, ok, detail: ok ? path : remedy, optional: true };
}

/** A module whose only function ends in return_call; engines without tail calls refuse it. */
function hasTailCalls(): boolean {
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 6, 1, 4, 0, 0x12, 0, 11];
  return WebAssembly.validate(new Uint8Array(bytes));
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description('check for compilers and libraries, and print the commands that install missing ones')
    .option('--boot', 'also boot every kernel, and print its size and the time')
    .action(async (options: { boot?: true }) => {
      const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
        version: string;
      };
      console.log(`kcovbox ${version}`);
      const rows = findings();
      const width = Math.max(...rows.map(row => row.what.length));
      for (const { what, ok, detail, packages, optional } of rows) {
        const mark = ok
          ? pc.green('ok     ')
          : optional
            ? pc.yellow('absent ')
            : pc.red(packages ? 'missing' : 'wrong  ');
        console.log(`${mark}  ${what.padEnd(width)}  ${detail}`);
      }
      if (rows.some(row => row.what === CLANG && row.ok)) console.log(`compiler: ${clangVersion()}`);
      console.log(`dialects: ${DIALECTS.join(', ')}; kernel configurations: ${kernelConfigs().join(', ')}`);
      const missing = rows.filter(row => !row.ok && !row.optional);
      const packages = missing.flatMap(row => row.packages ?? []);
      if (packages.length > 0)
        console.log(`\nTo install what is missing (Debian, Ubuntu): ${INSTALL} ${packages.join(' ')}`);
      const all = jobs(hasPrebuiltKernels());
      if (missing.length > 0) console.log([...describeJobs(all, rows)].join('\n'));
      else console.log('everything is installed; start with: kcovbox demo');
      const works = !missing.some(row => all[0]!.needs.includes(row.what));
      if (!works) process.exitCode = 125;
      if (options.boot && works) {
        const { describeBoots, measureBoots } = await import('../run/boot-report.ts');
        console.log(describeBoots(await measureBoots()));
      }
    });
}
