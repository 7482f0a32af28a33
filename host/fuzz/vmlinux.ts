// The vmlinux of another Linux: the same kernel as its Image, as an ELF file with symbols.
import { type Elf, HOOK_PC, HOOKS, Program, pcOf } from '../../coverage/index.ts';
import { KcovboxError } from '../../emulator/index.ts';

/** Where points of a kernel are told apart. */
export interface CodeRange {
  /** Virtual address of the first byte of an Image. */
  readonly base: bigint;
  readonly bytes: number;
}

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/**
 * Errors: KcovboxError where the file is of another build than the Image, has no hook with a name,
 * or has code outside of the range.
 */
export function checkVmlinux(elf: Elf, image: Uint8Array, { base, bytes }: CodeRange): void {
  const sections = elf.executableSections();
  if (sections.length === 0) throw refused(`${elf.name} has no sections with code: it is stripped`);
  for (const section of sections) {
    const from = pcOf(section.addr) - base;
    if (from < 0n || from + BigInt(section.size) > BigInt(bytes))
      throw refused(
        `${elf.name}: section ${section.name} is outside of the ${bytes / 2 ** 20} MiB from 0x${base.toString(16)} ` +
          'on, in which points are told apart; build a smaller kernel',
      );
    const code = image.subarray(Number(from), Number(from) + section.size);
    if (Buffer.compare(code, elf.data(section)) !== 0)
      throw refused(`${elf.name} is not of the same build as the Image: section ${section.name} differs`);
  }
  if (new Program(elf, { hooks: 'pc' }).count === 0)
    throw refused(
      `${elf.name} has no call of ${HOOKS[HOOK_PC]}: it was built without KCOV, or has no symbols`,
    );
}
