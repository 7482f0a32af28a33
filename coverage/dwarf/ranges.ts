/**
 * Address ranges of a DIE: `.debug_ranges` (DWARF 4 §2.17.3) and `.debug_rnglists` (DWARF 5
 * §2.17.3, §7.25). A list comes back flat: low, high (exclusive), low, high, ... Empty ranges are
 * dropped.
 */
import { type Addr, CoverageError, Cursor } from '../base/bytes.ts';
import { addressAt, type FormContext, type Sections } from './forms.ts';

function push(out: Addr[], low: Addr, high: Addr): void {
  if (high > low) out.push(low, high);
}

export function readRanges4(sections: Sections, offset: number, base: Addr): Addr[] {
  const cursor = new Cursor(sections.ranges, '.debug_ranges');
  cursor.seek(offset);
  const out: Addr[] = [];
  for (;;) {
    const low = cursor.addr();
    const high = cursor.addr();
    if (low === 0 && high === 0) {
      sections.listBytes += cursor.at - offset;
      return out;
    }
    // All ones (signed: -1) announces a new base.
    if (low === -1) base = high;
    else push(out, base + low, base + high);
  }
}

/** `offset` of a list in .debug_rnglists; `base` is the unit's low_pc until an entry changes it. */
export function readRanges5(sections: Sections, context: FormContext, offset: number, base: Addr): Addr[] {
  const cursor = new Cursor(sections.rnglists, '.debug_rnglists');
  cursor.seek(offset);
  const out: Addr[] = [];
  const indexed = () => addressAt(sections, context, cursor.uleb());
  for (;;) {
    const kind = cursor.u8();
    let low: Addr;
    switch (kind) {
      case 0: // DW_RLE_end_of_list
        sections.listBytes += cursor.at - offset;
        return out;
      case 1: // DW_RLE_base_addressx
        base = indexed();
        break;
      case 2: // DW_RLE_startx_endx
        low = indexed();
        push(out, low, indexed());
        break;
      case 3: // DW_RLE_startx_length
        low = indexed();
        push(out, low, low + cursor.uleb());
        break;
      case 4: // DW_RLE_offset_pair
        low = base + cursor.uleb();
        push(out, low, base + cursor.uleb());
        break;
      case 5: // DW_RLE_base_address
        base = cursor.addr();
        break;
      case 6: // DW_RLE_start_end
        low = cursor.addr();
        push(out, low, cursor.addr());
        break;
      case 7: // DW_RLE_start_length
        low = cursor.addr();
        push(out, low, low + cursor.uleb());
        break;
      default:
        throw new CoverageError(`.debug_rnglists: unknown entry kind ${kind}`);
    }
  }
}

/** The offset of list `index` behind DW_FORM_rnglistx. */
export function rnglistOffset(sections: Sections, context: FormContext, base: number, index: number): number {
  const cursor = new Cursor(sections.rnglists, '.debug_rnglists');
  cursor.seek(base + index * context.offsetSize);
  return base + (context.offsetSize === 8 ? cursor.u64() : cursor.u32());
}
