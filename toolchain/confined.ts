// Compiling the text of a stranger: the compiler sees a folder and its own headers, nothing else.
// An overlay of clang's file system ("redirect-only", LLVM's VirtualFileSystem.h) holds for
// #include, #embed and __has_include; the assembler and the linker do not know it, so inline
// assembly (.incbin) and dependent libraries are off.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './cache.ts';
import { requireTool } from './compilers.ts';
import { GLIBC_ROOT, runTool } from './tools.ts';

const OVERLAY = 'overlay.yaml';

/**
 * More flags for a program in `folder`, where the overlay is written. Errors: ToolchainError
 * without a compiler.
 */
export async function confinedFlags(folder: string): Promise<string[]> {
  const clang = requireTool('clang');
  const resources = await runTool(clang, ['-print-resource-dir'], folder, 'clang does not name its headers');
  const visible = [
    folder,
    join(packageRoot(), 'guest-programs', 'include'),
    join(GLIBC_ROOT, 'include'),
    join(resources.trim(), 'include'),
  ];
  const roots = visible.filter(existsSync).map(name => ({
    type: 'directory-remap',
    name,
    'external-contents': name,
  }));
  const overlay = { version: 0, 'case-sensitive': 'true', 'redirecting-with': 'redirect-only', roots };
  writeFileSync(join(folder, OVERLAY), JSON.stringify(overlay)); // YAML has all of JSON
  return [`-ivfsoverlay${join(folder, OVERLAY)}`, '-fno-gnu-inline-asm', '-Wl,--no-dependent-libraries'];
}
