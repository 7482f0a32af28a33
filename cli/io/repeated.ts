// Options that may be given several times.

/** Collects the values of an option, for commander. */
export const repeated = (text: string, before: string[] = []): string[] => [...before, text];
