/** The signals that end the command in order, with the exit status of each: 128 and its number. */
export const SIGNAL_STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type EndingSignal = keyof typeof SIGNAL_STATUS;

export const ENDING_SIGNALS = Object.keys(SIGNAL_STATUS) as EndingSignal[];
