// Finds the image of PCs: the kernel built here in which all of them are return addresses of hooks.
import { basename } from 'node:path';
import { type Addr, CallSites, Elf } from '../../coverage/index.ts';
import { readInput } from '../../host/input.ts';
import { builtKernels } from '../../host/sources.ts';
import { printable, UserError } from '../io/fail.ts';

/** True if every PC is a return address of a hook of `elf`. */
function fits(elf: Elf, pcs: readonly Addr[]): boolean {
  try {
    const sites = new CallSites(elf);
    return pcs.every(pc => sites.find(pc) >= 0);
  } catch {
    return false; // a kernel without hooks
  }
}

/** A built kernel that PCs fit. */
interface Fit {
  readonly elf: Elf;
  readonly conf: string;
  readonly file: string;
}

/**
 * The built kernel that `pcs` fit, as kcov recorded them, with a note on standard error. Of several
 * with one name, such as those of somebody who edits a kernel, it is the last used. Errors: none
 * fits, or kernels of several names do, which happens with few PCs.
 */
export function findImage(pcs: readonly Addr[]): Elf {
  const found: Fit[] = [];
  for (const { path, conf } of builtKernels()) {
    const elf = new Elf(readInput(path, 'kernel'), `kernel ${conf}`);
    // The same kernel may have been built in two checkouts.
    if (fits(elf, pcs) && !found.some(known => known.elf.imageId === elf.imageId))
      found.push({ elf, conf, file: basename(path) });
  }
  const [first] = found; // the last used
  if (!first)
    throw new UserError('no kernel built here has hooks that return to these PCs: give the image with -k');
  const names = [...new Set(found.map(({ conf }) => conf))];
  if (names.length > 1)
    throw new UserError(
      `these PCs fit ${names.length} kernels (${names.join(', ')}): ` +
        `choose one with -k $(kcovbox build kernel --conf ${first.conf})`,
    );
  const note =
    found.length === 1
      ? ''
      : `; of the ${found.length} that fit, ${first.file} was used last; ` +
        '-k chooses another of kcovbox cache ls';
  process.stderr.write(`kcovbox: these are PCs of the ${printable(first.conf)} kernel${printable(note)}\n`);
  return first.elf;
}
