// The order of the harts in files. A module of its own, without the emulator: the page's labs read
// schemas that have it.
import * as z from 'zod';
import { SCHEDULE_TEXT } from './schedule-text.ts';

/** An order of the harts, as `--schedule` takes it. */
export const scheduleName = z.string().regex(SCHEDULE_TEXT);
