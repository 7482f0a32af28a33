// The traps of a run, in order: its lanes on the time axis.
import { cause, type Timeline, type Trap, trapHandlers, trapOf } from '../../emulator/index.ts';
import type { RunEvent } from '../protocol.ts';

/** Register of the system call's number in the Linux ABI. */
const A7 = 17;
const EVENTS_MAX = 20_000;

/** Codes of S-mode's interrupts (Priv, table of scause). */
const INTERRUPTS: Readonly<Record<number, string>> = { 1: 'software', 5: 'timer', 9: 'external' };

/** At most EVENTS_MAX of them, and how many there are more. The machine stays where it is. */
export function eventsOf(
  timeline: Timeline,
  syscalls: Readonly<Record<string, string>>,
): { events: RunEvent[]; more: number } {
  const events: RunEvent[] = [];
  let more = 0;
  timeline.visit(trapHandlers(timeline.machine), {}, ({ unit, hart }) => {
    if (events.length < EVENTS_MAX)
      events.push({ unit, hart: hart.id, ...kindOf(trapOf(hart), hart.state.getX(A7)) });
    else more++;
    return false;
  });
  return { events, more };

  function kindOf({ isInterrupt, isCall, code }: Trap, call: bigint): Pick<RunEvent, 'kind' | 'name'> {
    if (isInterrupt) return { kind: 'interrupt', name: INTERRUPTS[code] ?? `interrupt ${code}` };
    if (isCall) return { kind: 'syscall', name: syscalls[String(call)] ?? `syscall ${call}` };
    return { kind: 'exception', name: cause.causeName(code) };
  }
}
