// Smaller programs that show the same.
import { copyProgram, type Program, removeCall } from './program.ts';

/** The program of now without its last fault, then without the one in front of it, and so on. */
export function* withoutOneFault(now: () => Program): IterableIterator<Program> {
  for (let at = (now().faults ?? []).length - 1; at >= 0; at--) {
    const faults = now().faults!.filter((_, i) => i !== at);
    yield { ...copyProgram(now()), faults: faults.length > 0 ? faults : undefined };
  }
}

/**
 * Fewer calls and faults, and calls that do not fail by injection and are not of the second thread,
 * as long as `shows` says so.
 */
export function reduce(program: Program, shows: (candidate: Program) => boolean): Program {
  let best = program;
  for (let at = best.calls.length - 1; at >= 0; at--) {
    if (best.calls.length > 1) {
      const smaller = copyProgram(best);
      removeCall(smaller, at);
      if (shows(smaller)) {
        best = smaller;
        continue;
      }
    }
    if (best.calls[at]!.failNth > 0) {
      const plain = copyProgram(best);
      plain.calls[at]!.failNth = 0;
      if (shows(plain)) best = plain;
    }
    if (best.calls[at]!.thread > 0) {
      const plain = copyProgram(best);
      plain.calls[at]!.thread = 0;
      if (shows(plain)) best = plain;
    }
  }
  for (const smaller of withoutOneFault(() => best)) if (shows(smaller)) best = smaller;
  return best;
}
