/** The lines that a browser keeps: those of an address without a place, and the last other ones. */
export const NAMES = { first: 'kcovbox-lines-first', last: 'kcovbox-lines-last' };
