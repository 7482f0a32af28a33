// Where the hooks of xv6 have the memory that the host and the agent share: at symbols of the
// kernel, whose addresses are physical ones, too (guest-programs/fuzz/xv6-hooks.c).
import { HostError, type ImageFile, type Machine, readElf } from '../../emulator/index.ts';
import { CONTROL, LAYOUT, XV6 } from './layout.ts';
import { LinkedRecords, type Records } from './records.ts';

const PAGE = 4096;

export interface LinkedMemory {
  /** Physical addresses of pages. */
  readonly control: readonly number[];
  readonly arena: readonly number[];
  readonly records: Records;
}

/** Errors: HostError if the kernel has no hooks, or the agent has not prepared its memory. */
export function linkedMemory(machine: Machine, { name, bytes }: ImageFile): LinkedMemory {
  const { symbols } = readElf(bytes, name);
  const at = (wanted: string): number => {
    const found = symbols.find(symbol => symbol.name === wanted);
    if (!found) throw new HostError(`${name} has no ${wanted}: it was built without the hooks`);
    return Number(found.value);
  };
  const control = at('kcovbox_control');
  const table = at('kcovbox_arena');
  const arena = Array.from({ length: XV6.ARENA_BYTES / PAGE }, (_, i) =>
    Number(machine.ram.read64(table + 8 * i)),
  );
  if (!arena.every(pa => machine.ram.has(pa, PAGE)))
    throw new HostError('the agent has not prepared its memory');
  return {
    control: Array.from({ length: LAYOUT.CONTROL_BYTES / PAGE }, (_, i) => control + i * PAGE),
    arena,
    records: new LinkedRecords(machine, at('kcovbox_area'), control + CONTROL.MODE),
  };
}
