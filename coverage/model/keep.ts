/** A selection of sites. */
import type { Addr } from '../base/bytes.ts';
import type { Frame } from '../dwarf/symbolize.ts';

/** Selects sites by their facts; all by default. */
export type KeepPoint = (point: { call: Addr; frames: Frame[] }) => boolean;
