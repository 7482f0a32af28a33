// Words of messages.

/** `1 hart`, `2 harts`. */
export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
