// The thread that a hart runs, for kernels of ours: at a trap, the number in its struct thread.
import type { Image } from '../../debug/image.ts';
import { type Hart, type Machine, translate } from '../../emulator/index.ts';

const SSCRATCH = 0x140;
const TP = 4;
const ID_BYTES = 4;

/** The place of `tid` in struct thread; undefined: another kernel, or its types are missing. */
export function tidPlace({ variables }: Image): number | undefined {
  const type = variables.types.named('struct thread');
  if (type?.kind !== 'struct') return undefined;
  const member = type.members().find(({ name, type: own }) => name === 'tid' && own.bytes === ID_BYTES);
  return member?.offset;
}

/**
 * The thread of a hart that is at the first instruction of its trap handler: sscratch has the
 * thread of a program, and is 0 in the kernel, where tp has it (kernel/trap/entry.S). Undefined: at
 * boot.
 */
export function threadAtTrap(machine: Machine, hart: Hart, place: number): number | undefined {
  const scratch = hart.csr.peek(SSCRATCH) ?? 0n;
  const thread = scratch === 0n ? hart.state.getX(TP) : scratch;
  const pa = translate(machine, hart, BigInt.asUintN(64, thread + BigInt(place)));
  return pa === undefined || !machine.ram.has(pa, ID_BYTES) ? undefined : machine.ram.read32(pa);
}
