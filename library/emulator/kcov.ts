// One record of the kcov device, as a listener on the host sees it.

/** One record of the kcov device. */
export interface KcovRecord {
  /**
   * `pc`: a basic block ran. `cmp`: two values were compared. `edge`: a value of a UNIQ_EDGE mode.
   */
  readonly kind: 'pc' | 'cmp' | 'edge';
  /** Return address of the hook; for `edge` the edge value. */
  readonly pc: bigint;
  /** `cmp`: bits of size and constness, as kcov defines them; else 0. */
  readonly type: number;
  /** `cmp`: the operands; else 0n. */
  readonly arg1: bigint;
  readonly arg2: bigint;
  readonly tid: number;
  readonly pid: number;
  /** System call number, -1 outside of one. */
  readonly syscall: number;
  /** Whose code ran: the thread's own, or a remote section in a task or an interrupt. */
  readonly context: 'task' | 'remote-task' | 'remote-interrupt';
  /** Of the remote section; 0n for a task. */
  readonly handle: bigint;
  /** Number of the hart that ran it. */
  readonly hart: number;
  /** The program's buffer was full: the program will never see this record. */
  readonly isLost: boolean;
}
