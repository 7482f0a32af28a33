// Programs that the guest can start: what their ELF header has to say. Also runs in the page.
import { isElf, KcovboxError } from '../emulator/index.ts';

/**
 * Largest program: leaves room for the kernel and the areas in the smallest RAM that makes sense.
 */
const PROGRAM_MAX = 512 * 2 ** 20;
/** The mode of its file in the root file system. */
export const EXECUTABLE = 0o100755;
/** With /bin/ in front it is a path of the guest's kernel, 256 bytes with its end. */
export const NAME_MAX = 250;

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** ELF header facts that decide whether the guest can start it; one line each. */
export function checkProgram(path: string, bytes: Uint8Array): void {
  if (bytes.length === 0) throw refused(`program ${path} is empty`);
  if (bytes.length > PROGRAM_MAX) throw refused(`program ${path} is larger than 512 MiB`);
  if (bytes[0] === 0x23 && bytes[1] === 0x21)
    throw refused(
      `program ${path} is a script, and the guest has no interpreter: give C source or an ELF file`,
    );
  if (!isElf(bytes))
    throw refused(
      `program ${path} is neither C source (.c) nor an ELF file; compile it for riscv64 with -static`,
    );
  if (bytes.length < 64) throw refused(`program ${path} is a truncated ELF file: ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[4] !== 2 || bytes[5] !== 1)
    throw refused(`program ${path} is not a 64-bit little-endian ELF file`);
  const machine = view.getUint16(18, true);
  if (machine !== 243) throw refused(`program ${path} is for ELF machine ${machine}, not RISC-V (243)`);
  const headers = Number(view.getBigUint64(32, true));
  const count = view.getUint16(56, true);
  if (headers + count * 56 > bytes.length)
    throw refused(`program ${path} is a truncated ELF file: its program headers lie behind its end`);
  for (let i = 0; i < count; i++) {
    const at = headers + i * 56;
    const type = view.getUint32(at, true);
    if (type === 3) throw refused(`program ${path} is dynamically linked; link it with -static`);
    const end = view.getBigUint64(at + 8, true) + view.getBigUint64(at + 32, true);
    if (type === 1 && end > BigInt(bytes.length))
      throw refused(
        `program ${path} is a truncated ELF file: a segment ends at ${end} of ${bytes.length} bytes`,
      );
  }
}
