// Sizes with a name.

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

export const PAGE_SHIFT = 12;
export const PAGE_BYTES = 1 << PAGE_SHIFT;
