// How a run of a machine ends.

/** Why a run returned. */
export type StopReason =
  /** The guest ended the run, with a status of 0 to 65535. */
  | { readonly kind: 'exit'; readonly status: number }
  /** The guest said that it failed (SBI system reset with reason "system failure"). */
  | { readonly kind: 'panic'; readonly status: number }
  /** The guest wants a reboot: `reset` does it. */
  | { readonly kind: 'reset' }
  /** The units or the time of this call are spent; `run` goes on. */
  | { readonly kind: 'budget' }
  /** All harts wait, and only input could wake them. */
  | { readonly kind: 'halt' };
