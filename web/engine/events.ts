// The traps of a run, and the remotes that come and go, in order: its lanes on the time axis.
import { cause, type Hart, type Timeline, type Trap, trapHandlers, trapOf } from '../../emulator/index.ts';
import type { Assets, RunEvent } from '../protocol.ts';
import type { RemoteFunctions } from './remotes.ts';
import { threadAtTrap } from './threads.ts';

/** Register of the system call's number in the Linux ABI. */
const A7 = 17;
const EVENTS_MAX = 20_000;

/** Codes of S-mode's interrupts (Priv, table of scause). */
const INTERRUPTS: Readonly<Record<number, string>> = { 1: 'software', 5: 'timer', 9: 'external' };

/** Facts about the kernel. */
interface KernelFacts {
  /** Undefined: its symbols are not known. */
  readonly remotes: RemoteFunctions | undefined;
  /** See threads.ts. */
  readonly tidPlace: number | undefined;
}

/** At most EVENTS_MAX of them, and how many there are more. The machine stays where it is. */
export function eventsOf(
  timeline: Timeline,
  syscalls: Assets['syscalls'],
  { remotes, tidPlace }: KernelFacts,
): { events: RunEvent[]; more: number } {
  const { machine } = timeline;
  const events: RunEvent[] = [];
  let more = 0;
  timeline.visit(
    new Set([...trapHandlers(machine), ...(remotes?.entries ?? [])]),
    {},
    ({ unit, hart, pc }) => {
      if (events.length >= EVENTS_MAX) more++;
      else if (remotes?.entries.has(pc)) {
        const name = remotes.nameAt(machine, hart, pc);
        if (name !== undefined) events.push({ unit, hart: hart.id, kind: 'kcov', name });
      } else events.push({ unit, hart: hart.id, thread: threadOf(hart), ...kindOf(trapOf(hart), hart) });
      return false;
    },
  );
  return { events, more };

  function threadOf(hart: Hart): number | undefined {
    return tidPlace === undefined ? undefined : threadAtTrap(machine, hart, tidPlace);
  }

  function kindOf({ isInterrupt, isCall, code }: Trap, { state }: Hart): Pick<RunEvent, 'kind' | 'name'> {
    if (isInterrupt) return { kind: 'interrupt', name: INTERRUPTS[code] ?? `interrupt ${code}` };
    const call = state.getX(A7);
    if (isCall) return { kind: 'syscall', name: syscalls[Number(call)] ?? `syscall ${call}` };
    return { kind: 'exception', name: cause.causeName(code) };
  }
}
