// Builds the guest kernel for one personality. kernel/Makefile is the one description of how; this adds the cache and a
// private output folder, so that builds of two personalities or two processes never meet.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cached, packageRoot } from './cache.ts';
import { ToolchainError } from './errors.ts';
import { clangIdentity, requireTool, runTool } from './tools.ts';

/** Personalities in the order the documents name them; also the names of kernel/conf files. */
export const DIALECTS = ['openbsd', 'netbsd', 'freebsd', 'linux'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Every file that can influence a kernel build and, because another one may appear, every folder. */
function kernelSources(dir: string): string[] {
  const below = readdirSync(dir, { withFileTypes: true }).flatMap(entry => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'build' ? [] : kernelSources(path);
    return /\.(c|h|S|ld|def|awk)$|Makefile$/.test(entry.name) || dir.endsWith('conf') ? [path] : [];
  });
  return [dir, ...below].sort();
}

/** Names of kernel/conf: the personalities, and the fragments (kasan, debug, ...) that a `+` adds to one. */
export const kernelConfigs = (): string[] =>
  readdirSync(join(packageRoot(), 'kernel', 'conf')).filter(name => !name.includes('.'));

/**
 * Path of the kernel ELF for configuration `conf`: a personality, or `openbsd+debug+kasan` with fragments of kernel/conf.
 * Errors: ToolchainError with the compiler's output.
 */
export async function buildKernel(conf: string): Promise<{ path: string; built: boolean }> {
  const kernel = join(packageRoot(), 'kernel');
  if (!conf.split('+').every(part => kernelConfigs().includes(part)))
    throw new ToolchainError(`no kernel configuration "${conf}"; there are ${kernelConfigs().join(', ')}`);
  const make = requireTool('make');
  requireTool('clang');
  const key = ['kernel', kernel, conf, clangIdentity()].join('\0');
  return cached('kernel', key, async output => {
    const out = `${output}.objects`;
    mkdirSync(out);
    try {
      const args = [
        '-s',
        `-j${availableParallelism()}`,
        '-C',
        kernel,
        `CONF=${conf}`,
        `OUT=${out}`,
        `${out}/kernel.elf`,
      ];
      await runTool(make, args, kernel, `kernel configuration ${conf} does not build`);
      renameSync(join(out, 'kernel.elf'), output);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
    return kernelSources(kernel);
  });
}
