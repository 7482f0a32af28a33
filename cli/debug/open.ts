// A capsule as a debug session: its machine, at the program's first instruction, and its images.

import { entryOf } from '../../debug/image.ts';
import { DebugSession } from '../../debug/session.ts';
import { createMachine, Once, RUN_HASH_INTERVAL, Timeline } from '../../emulator/index.ts';
import { type DebugOptions, openRecorded } from './recorded-run.ts';

export interface Opened {
  readonly session: DebugSession;
  /** Units before the first instruction of the program; 0 without one. */
  readonly start: number;
}

/** `onConsole`: each byte of the guest's output, when the run first comes to it. */
export async function openDebugger(
  path: string,
  files: readonly string[],
  options: DebugOptions,
  onConsole: (byte: number) => void,
): Promise<Opened> {
  const recorded = await openRecorded(path, files, options);
  const once = new Once(onConsole);
  const machine = createMachine({
    ...recorded.machine,
    runHash: RUN_HASH_INTERVAL,
    onConsole: byte => once.put(byte),
  });
  const timeline = new Timeline(machine, { end: recorded.end, companions: [once] });
  const session = new DebugSession(timeline, recorded.images);
  return { session, start: firstOf(session) };
}

/** Goes to the program's entry point. */
function firstOf(session: DebugSession): number {
  const entry = entryOf(session.images);
  const moment = entry === undefined ? undefined : session.timeline.next(entry);
  if (!moment) return 0;
  session.goto(moment.unit, moment.hart);
  return moment.unit;
}
