// Finds an image without a path: the kernel, built here or packaged, in which PCs are return
// addresses of hooks, or which has the identity that a trace names.
import { type Addr, CallSites, Elf } from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { builtKernels, type KnownKernel, kernelTitle, packagedKernels } from '../../host/kernels.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';

/** An image that was found, and the kernel that it is of. */
interface Found extends Pick<KnownKernel, 'conf' | 'file'> {
  readonly elf: Elf;
}

function* opened(kernels: Iterable<KnownKernel>): Generator<Found> {
  for (const { conf, file, read } of kernels) {
    let elf: Elf;
    try {
      elf = new Elf(read(), kernelTitle(conf));
    } catch {
      continue; // a build in progress
    }
    yield { elf, conf, file };
  }
}

/** The kernel with this identity: its build ID, or the hash of its code. */
export function findById(id: string): Elf | undefined {
  for (const kernels of [builtKernels, packagedKernels])
    for (const { elf } of opened(kernels())) if (elf.imageId === id || elf.codeHash === id) return elf;
  return undefined;
}

/** True if every PC is a return address of a hook of `elf`, or every one a call of a hook. */
function fits(elf: Elf, pcs: readonly Addr[]): boolean {
  try {
    const sites = new CallSites(elf);
    return pcs.every(pc => sites.find(pc) >= 0) || pcs.every(pc => sites.call[sites.firstFrom(pc)] === pc);
  } catch {
    return false; // a kernel without hooks
  }
}

/** The kernels that PCs fit. One may have been built in two checkouts, and is listed once. */
function fitting(kernels: Iterable<KnownKernel>, pcs: readonly Addr[]): Found[] {
  const found = new Map<string, Found>();
  for (const one of opened(kernels))
    if (!found.has(one.elf.imageId) && fits(one.elf, pcs)) found.set(one.elf.imageId, one);
  return [...found.values()];
}

/**
 * The kernel that `pcs` fit, as kcov recorded them or as rawcover has them, with a note on standard
 * error; one of the package only where none that was built here does. Of several with one name,
 * such as those of somebody who edits a kernel, it is the last used. Errors: none fits, or kernels
 * of several names do, which happens with few PCs.
 */
export function findByPcs(pcs: readonly Addr[]): Elf {
  const built = fitting(builtKernels(), pcs);
  const found = built.length > 0 ? built : fitting(packagedKernels(), pcs);
  const [first] = found; // the last used
  if (!first)
    throw new UserError('no kernel built here or packaged calls hooks at these PCs: give the image with -k');
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
  tell(`kcovbox: these are PCs of the ${visible(first.conf)} kernel${visible(note)}\n`);
  return first.elf;
}
