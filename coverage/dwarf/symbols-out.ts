/** The symbols of an image that readers of files and lines look at: functions, data, and files. */
import type { Elf } from '../elf/elf.ts';
import { Bytes } from './bytes-out.ts';

const ROW = 24;
/** STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_FILE, STT_GNU_IFUNC. */
const KEPT = new Set([0, 1, 2, 4, 10]);
/** RISC-V psABI mapping symbols, and temporary labels of the assembler. */
const LABEL = /^(\$[xd]|\.L0 )/;

/** `locals`: rows in front of the first global symbol (sh_info). Errors: CoverageError. */
export function usedSymbols(elf: Elf): {
  readonly table: Uint8Array;
  readonly strings: Uint8Array;
  readonly locals: number;
} {
  const [symtab, strtab] = [elf.section('.symtab'), elf.section('.strtab')];
  const table = symtab ? elf.data(symtab) : new Uint8Array(0);
  const names = strtab ? elf.data(strtab) : new Uint8Array(0);
  const rows = new Bytes();
  const strings = new Bytes();
  const places = new Map<string, number>([['', 0]]);
  strings.u8(0);
  rows.bytes(new Uint8Array(ROW));
  let locals = 1;
  for (let at = ROW; at + ROW <= table.length; at += ROW) {
    const row = Uint8Array.from(table.subarray(at, at + ROW));
    const view = new DataView(row.buffer);
    const nameAt = view.getUint32(0, true);
    const end = names.indexOf(0, nameAt);
    const name = new TextDecoder().decode(names.subarray(nameAt, end < 0 ? names.length : end));
    if (!KEPT.has(row[4]! & 15) || name === '' || LABEL.test(name)) continue;
    let place = places.get(name);
    if (place === undefined) {
      places.set(name, (place = strings.length));
      strings.text(name);
    }
    view.setUint32(0, place, true);
    rows.bytes(row);
    if (row[4]! >> 4 === 0) locals++;
  }
  return { table: rows.take(), strings: strings.take(), locals };
}
