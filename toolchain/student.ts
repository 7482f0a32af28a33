// Programs from sources that lie in memory, written by strangers: compiled in a folder that exists
// for the compiler alone, of which it sees that folder and the headers of the guest.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cached, packageRoot } from './cache.ts';
import { clangIdentity, requireTool } from './compilers.ts';
import { confinedFlags } from './confined.ts';
import { parseDepfile } from './depfile.ts';
import { makeFolders } from './folders.ts';
import { sha256OfParts } from './hash.ts';
import { type ProgramOptions, programFlags } from './program.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';
import { requireGlibc } from './tools.ts';
import { runLimited, withoutFolder } from './untrusted.ts';

/** Contents by path below the folder. */
export type Sources = ReadonlyMap<string, Uint8Array>;

/**
 * Path of the ELF for `name`, one of `sources`. Errors: CompileError with the compiler's words,
 * which call the sources by their paths in `sources`.
 */
export async function buildConfined(
  sources: Sources,
  name: string,
  options: Pick<ProgramOptions, 'dialect'>,
): Promise<string> {
  requireGlibc();
  const parts = [...sources].sort(([a], [b]) => (a < b ? -1 : 1)).flat();
  const key = [
    'confined',
    packageRoot(),
    clangIdentity(),
    options.dialect,
    name,
    sha256OfParts(...parts),
  ].join('\0');
  const label = name.replace(/^.*\//, '').replace(/\.c$/, '');
  const product = await cached('program', key, { label, suffix: '.elf' }, async output => {
    const folder = makeTemporaryFolder('kcovbox-lab-');
    try {
      for (const [path, bytes] of sources) {
        makeFolders(dirname(join(folder, path)));
        writeFileSync(join(folder, path), bytes);
      }
      const own = programFlags(join(folder, 'program.c'), options);
      const depfile = join(folder, 'program.d');
      const staged = join(folder, 'program.elf');
      const flags = [...own, '-O0', '-I.', ...(await confinedFlags(folder)), '-MD', '-MF', depfile];
      const args = [...flags, name, '-o', staged, '-lm'];
      await runLimited(requireTool('clang'), args, folder, `${name} does not compile`);
      const read = parseDepfile(readFileSync(depfile, 'utf8'));
      writeFileSync(output, readFileSync(staged), { mode: 0o755 });
      return read.filter(path => path.startsWith(packageRoot()));
    } catch (error) {
      throw withoutFolder(error, folder);
    } finally {
      removeTemporaryFolder(folder);
    }
  });
  return product.path;
}
