// How the ring describes a run of records in the host's memory.
import { ORIGIN_WORDS } from '../../../devices/kcov-origin.ts';

/** Words of a context that an origin consists of: TID to the end of DESCRIPTOR. */
export const ORIGIN_BYTES = 4 * ORIGIN_WORDS;

/** Entry of a run: its origin, i32 host address of its records, i32 index of the first. */
export const RUN = { START: ORIGIN_BYTES, INDEX: ORIGIN_BYTES + 4, SIZE: ORIGIN_BYTES + 8 } as const;
