// How a call of `Machine.run` ends.

export type RunResult =
  /** The guest ended the run. */
  | { kind: 'exit'; status: number }
  /** The guest reported failure (SBI system reset with reason "system failure"). */
  | { kind: 'panic'; status: number }
  /** The guest requested a reboot; `reset()` performs it. */
  | { kind: 'reset' }
  /** The instructions, the time or the work of this call are spent; `run` continues. */
  | { kind: 'budget' }
  /** All harts wait and only input could wake them. */
  | { kind: 'halt' };
