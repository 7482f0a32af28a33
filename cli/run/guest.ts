// The images of a run at this process's terminal: the guest's tty begins as the person's is.
import { type GuestImages, type GuestOptions, prepareGuest as prepare } from '../../host/guest.ts';
import { isTerminal, sizeOf } from '../io/terminal.ts';

/**
 * How the guest's tty begins. At a terminal: with its size. Otherwise as a stream of bytes as they
 * are, because none of them was typed, and what was piped in should not come out again between the
 * program's own lines. --append "tty=..." wins.
 */
function ttyWord(): string {
  if (!isTerminal(0)) return 'tty=stream';
  const size = sizeOf();
  return size ? `tty=${size.rows}x${size.cols}` : 'tty=24x80';
}

/** As host/guest.ts, with the terminal on standard input, where there is one. */
export const prepareGuest = (
  program: string,
  args: readonly string[],
  options: GuestOptions,
): Promise<GuestImages> =>
  prepare(program, args, {
    needsSymbols: false,
    tty: ttyWord(),
    size: isTerminal(0) ? sizeOf() : undefined,
    ...options,
  });
