// How files and programs write the order of the harts. A module without the schemas: the entry
// `kcovbox/fuzz` reads programs and no files.

/**
 * The texts that the emulator's `scheduleText` writes; `parseSchedule` also reads numbers with
 * leading zeros.
 */
export const SCHEDULE_TEXT = /^(?:rw|rp|pos|pct:(?:[1-9]|1[0-6])(?::(?:[1-9]\d{0,8}|1000000000))?)$/;

/**
 * How the threads of a race take turns: as SCHEDULE_TEXT, or `turns`: of random lengths, about as
 * those of a time-sharing system.
 */
export const RACE_ORDER = new RegExp(`^(?:turns|${SCHEDULE_TEXT.source.replace(/^\^|\$$/g, '')})$`);
