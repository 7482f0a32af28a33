// The order of the harts in files. A module of its own, without the emulator: the page's labs read
// schemas that have it.
import * as z from 'zod';

/**
 * The texts that the emulator's `scheduleText` writes; `parseSchedule` also reads numbers with
 * leading zeros.
 */
export const SCHEDULE_TEXT = /^(?:rw|rp|pos|pct:(?:[1-9]|1[0-6])(?::(?:[1-9]\d{0,8}|1000000000))?)$/;

/** An order of the harts, as `--schedule` takes it. */
export const scheduleName = z.string().regex(SCHEDULE_TEXT);
