// A device program: what a guest and its host may do to the board, one action after the other.

export type Action =
  /** A guest's access to the bus. */
  | { readonly do: 'store'; readonly at: number; readonly bytes: number; readonly value: bigint }
  | { readonly do: 'load'; readonly at: number; readonly bytes: number }
  /** A debugger's look at a device. */
  | { readonly do: 'peek'; readonly at: number; readonly bytes: number }
  /** A guest's store to RAM. */
  | { readonly do: 'ram'; readonly at: number; readonly bytes: number; readonly value: bigint }
  /** Another hart makes the accesses that follow. */
  | { readonly do: 'hart'; readonly hart: number }
  | { readonly do: 'input'; readonly port: 'uart' | 'console' | 'break' | 'resize'; readonly bytes: number }
  | { readonly do: 'time'; readonly units: number }
  /** A snapshot, restored after a reset. */
  | { readonly do: 'again' };

export interface Program {
  readonly legacy: boolean;
  readonly actions: readonly Action[];
}

/** One line for each action. */
export const listing = (program: Program): string =>
  [
    `virtio ${program.legacy ? 'legacy' : 'modern'}`,
    ...program.actions.map(action =>
      Object.entries(action)
        .map(([key, value]) =>
          key === 'do' ? value : `${key} ${typeof value === 'string' ? value : hex(value)}`,
        )
        .join(' '),
    ),
  ].join('\n');

const hex = (value: number | bigint): string => (value < 10 ? `${value}` : `0x${value.toString(16)}`);
