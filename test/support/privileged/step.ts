// The steps of a privileged program. A program is a list of steps; every step can be removed, so a
// failing program can be shrunk.

export type Mode = 0 | 1 | 3;

export type Action =
  /** Runs a snippet `times` times in a mode; `bases` go to x16..x19; MPRV with MPP for M. */
  | {
      readonly kind: 'call';
      readonly snippet: number;
      readonly at: number;
      readonly mode: Mode;
      readonly mprv: number;
      readonly times: number;
      readonly bases: readonly number[];
      /** For x20: a page whose table entry is code. */
      readonly entry: number;
    }
  | { readonly kind: 'satp'; readonly value: bigint; readonly isFenced: boolean }
  /** Stores `words` to RAM; then maybe a fence. */
  | {
      readonly kind: 'store';
      readonly at: number;
      readonly words: readonly number[];
      readonly fence: 'none' | 'sfence' | 'sfence-page' | 'fence.i';
      readonly va: number;
    }
  /** The same by DMA of the edu device, some hundred instructions later. */
  | {
      readonly kind: 'dma';
      readonly at: number;
      readonly from: number;
      readonly bytes: number;
      readonly out: boolean;
    }
  /**
   * A request to the disk or to the generator of random bytes, which stores at `at`. Its queue is
   * at `rings`, which may hold code or page table entries.
   */
  | {
      readonly kind: 'virtio';
      readonly device: 'disk' | 'random';
      readonly rings: number;
      readonly at: number;
      readonly bytes: number;
      readonly from: number;
    }
  /** The same by fw_cfg, with its request at `request`. */
  | {
      readonly kind: 'fw_cfg';
      readonly request: number;
      readonly at: number;
      readonly bytes: number;
      readonly from: number;
    }
  | {
      readonly kind: 'pmp';
      readonly index: number;
      readonly address: number;
      readonly config: number;
      readonly isFenced: boolean;
    }
  | { readonly kind: 'status'; readonly set: number; readonly clear: number }
  | { readonly kind: 'delegate'; readonly value: number }
  /** Enables interrupts, the timer's in `delta` ticks. */
  | { readonly kind: 'interrupts'; readonly mie: number; readonly delta: number }
  /** Sets or clears the software interrupt of a hart. */
  | { readonly kind: 'ipi'; readonly target: number; readonly value: 0 | 1 }
  /** Waits so many ticks, so that another hart runs. */
  | { readonly kind: 'nap'; readonly delta: number };

export type Step = Action & { readonly hart: number };

export interface PrivilegedProgram {
  readonly isPortable: boolean;
  readonly hasCsrs: boolean;
  readonly harts: number;
  readonly rounds: number;
  readonly steps: readonly Step[];
  /** Words of each snippet without its end, and of each function without its return. */
  readonly snippets: readonly (readonly number[])[];
  readonly functions: readonly (readonly number[])[];
  /** First contents of the tables and of the data. */
  readonly tables: ReadonlyMap<number, bigint>;
  readonly data: Uint8Array;
  /** Contents of the disk and of the file of fw_cfg: instructions, then page table entries. */
  readonly disk: Uint8Array;
}

export interface PrivilegedProfile {
  /** 1 where it is absent, and for QEMU, whose harts take turns of other lengths. */
  readonly harts?: number;
  /** Of all harts together. */
  readonly steps: number;
  readonly rounds: number;
  /**
   * Only what the manual determines and QEMU has: no DMA, no timer, every change of a table with
   * its fence, no store of a snippet to code or to a table.
   */
  readonly isPortable: boolean;
  /**
   * Snippets also change CSRs and calculate with floating point, between their loads and stores.
   * Absent: false. Not for QEMU, which counts time and instructions otherwise.
   */
  readonly hasCsrs?: boolean;
}
