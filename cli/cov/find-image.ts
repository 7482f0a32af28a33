// Finds the image of PCs: the kernel built here in which all of them are return addresses of hooks.
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

/**
 * The only built kernel that `pcs` fit, as kcov recorded them, with a note on standard error.
 * Errors: none fits, or several do, which happens with few PCs.
 */
export function findImage(pcs: readonly Addr[]): Elf {
  const found: { elf: Elf; conf: string }[] = [];
  for (const { path, conf } of builtKernels()) {
    const elf = new Elf(readInput(path, 'kernel'), `kernel ${conf}`);
    // The same kernel may have been built in two checkouts.
    if (fits(elf, pcs) && !found.some(known => known.elf.imageId === elf.imageId)) found.push({ elf, conf });
  }
  const [first, ...others] = found;
  if (!first)
    throw new UserError('no kernel built here has hooks that return to these PCs: give the image with -k');
  if (others.length > 0)
    throw new UserError(
      `these PCs fit ${found.length} kernels (${found.map(f => f.conf).join(', ')}): choose one with -k $(kcovbox build kernel --conf ${first.conf})`,
    );
  process.stderr.write(`kcovbox: these are PCs of the ${printable(first.conf)} kernel\n`);
  return first.elf;
}
