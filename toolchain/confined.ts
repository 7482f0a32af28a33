// Compiling the text of a stranger: the compiler sees a folder and its own headers, nothing else.
// An overlay of clang's file system ("redirect-only", LLVM's VirtualFileSystem.h) holds for
// #include, #embed and __has_include; the assembler and the linker do not know it, so inline
// assembly (.incbin) and dependent libraries are off.
import { join } from 'node:path';
import { packageRoot } from './cache.ts';
import { GLIBC_ROOT } from './tools.ts';
import { visibleOnly } from './untrusted.ts';

/**
 * More flags for a program in `folder`, where the overlay is written. Errors: ToolchainError
 * without a compiler.
 */
export async function confinedFlags(folder: string): Promise<string[]> {
  const visible = [folder, join(packageRoot(), 'guest-programs', 'include'), join(GLIBC_ROOT, 'include')];
  const overlay = await visibleOnly(visible, join(folder, 'overlay.yaml'));
  return [...overlay, '-fno-gnu-inline-asm', '-Wl,--no-dependent-libraries'];
}
