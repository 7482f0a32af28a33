// Names of addresses for listings.
import { addrOf, type Elf } from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import type { Naming } from './instructions.ts';

/** Symbol + offset of an address in an image. */
export function namingOf(elf: Elf): Naming {
  const { symbols } = elf;
  return address => {
    const addr = addrOf(address);
    const index = symbols.indexAt(addr);
    if (index < 0) return undefined;
    const offset = addr - symbols.addr[index]!;
    return `${visible(symbols.name(index))}${offset === 0 ? '' : `+0x${offset.toString(16)}`}`;
  };
}
