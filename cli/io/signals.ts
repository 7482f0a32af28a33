/** The signals that end the command in order, with the exit status of each: 128 and its number. */
export const SIGNAL_STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type EndingSignal = keyof typeof SIGNAL_STATUS;

export const ENDING_SIGNALS = Object.keys(SIGNAL_STATUS) as EndingSignal[];

/** By the clock of the process. */
let repeatedUntil = 0;

/**
 * The command ends by a signal, and writes its outputs. A second Ctrl-C must not take them: for so
 * many milliseconds `isRepeated` answers true.
 */
export function expectRepeated(ms: number): void {
  repeatedUntil = performance.now() + ms;
}

/** A signal that comes now only repeats the one that ended the command. */
export const isRepeated = (): boolean => performance.now() < repeatedUntil;

/** Calls `act` for each signal that would end the command, until `work` is done. */
export async function whileSignals<T>(
  act: (signal: EndingSignal) => void,
  work: () => Promise<T>,
): Promise<T> {
  for (const signal of ENDING_SIGNALS) process.on(signal, act);
  try {
    return await work();
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, act);
  }
}
