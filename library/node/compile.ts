// The compilers: programs and kernels of the guest as files in the cache.
import { readFileSync } from 'node:fs';
import { compileProgram } from '../../host/guest.ts';
import { buildKernel as buildInner } from '../../toolchain/index.ts';
import { A_CONF, A_PATH, COMPILE, check, KERNEL } from './checks.ts';
import { guarded } from './errors.ts';
import type { CompileOptions, KernelOptions } from './options.ts';

/** A static executable for the guest. */
export interface CompiledProgram {
  /** In the cache. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Was it compiled by an earlier call, and nothing that it was made from has changed? */
  readonly isCached: boolean;
  /** The compiler's warnings; '' if there are none, or it is cached. */
  readonly warnings: string;
}

/**
 * Compiles one C source, with what it includes, into a static RISC-V executable for the guest.
 *
 * @param source - path of the `.c` file.
 * @throws KcovboxError of kind `input` if it is no file that can be read; of kind `compile` if it
 *   does not compile, with the compiler's words as `detail`; of kind `toolchain` if there is no
 *   clang 16 or no RISC-V C library.
 */
export const compile = (source: string, options: CompileOptions = {}): Promise<CompiledProgram> =>
  guarded(async () => {
    check('compile', ['source', source, A_PATH], ['options', options, COMPILE]);
    let warnings = '';
    const { path, built } = await compileProgram(source, {
      dialect: options.dialect ?? 'openbsd',
      cflags: options.cflags ?? [],
      say: text => {
        warnings += text;
      },
    });
    return { path, bytes: readFileSync(path), isCached: !built, warnings };
  });

/** The kernel of a configuration. */
export interface KernelFile {
  /** In the cache. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isCached: boolean;
}

/**
 * The guest kernel for a configuration: a dialect, or one with fragments of `kernel/conf/`, as
 * `linux+kasan`. Those of the four dialects travel in the package.
 *
 * @throws KcovboxError of kind `toolchain` if there is no such configuration, a tool is missing, or
 *   it does not build, with the compiler's words as `detail`.
 */
export const buildKernel = (conf: string, options: KernelOptions = {}): Promise<KernelFile> =>
  guarded(async () => {
    check('buildKernel', ['conf', conf, A_CONF], ['options', options, KERNEL]);
    const say = options.onMessage ?? (() => {});
    const { path, built } = await buildInner(conf, { source: options.source, say });
    return { path, bytes: readFileSync(path), isCached: !built };
  });
