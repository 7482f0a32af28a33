// The canaries of historical bugs (kernel/include/bugs.h): an array in the kernel's data, which the
// host reads by its symbol. The guest does nothing for it.
import { type Machine, readElf } from '../../emulator/index.ts';

/** struct bug: name and switch, then the two counters. */
const NAME_BYTES = 39;
const REACHED = 40;
const TRIGGERED = 48;
const ROW_BYTES = 88;

export interface Canary {
  readonly id: string;
  readonly on: boolean;
  /** Times that the faulty code was executed. */
  readonly reached: number;
  /** Times that the condition of the bug held then. */
  readonly triggered: number;
}

/** Where a kernel keeps its canaries; undefined: it has none. */
export interface CanaryTable {
  readonly pa: number;
  readonly rows: number;
}

/** `kernel`: the image with its symbols. Virtual addresses are physical ones plus 2^64 - 2^32. */
export function findCanaries(kernel: Uint8Array): CanaryTable | undefined {
  const symbol = readElf(kernel, 'kernel').symbols.find(({ name }) => name === 'bug_table');
  if (!symbol) return undefined;
  return { pa: Number(symbol.value & 0xffff_ffffn), rows: Number(symbol.size) / ROW_BYTES };
}

const u64 = ({ ram }: Pick<Machine, 'ram'>, at: number): number =>
  ram.read32(at) + ram.read32(at + 4) * 2 ** 32;

/** Names of the bugs that an execution has reached and triggered. */
export interface Canaries {
  readonly reached: readonly string[];
  readonly triggered: readonly string[];
}

/** Compares the canaries with what they were before: for executions from a snapshot. */
export class CanaryWatch {
  readonly #machine: Pick<Machine, 'ram'>;
  readonly #table: CanaryTable;
  readonly #before: readonly Canary[];

  constructor(machine: Pick<Machine, 'ram'>, table: CanaryTable) {
    this.#machine = machine;
    this.#table = table;
    this.#before = readCanaries(machine, table);
  }

  /** Since the watch was made. */
  read(): Canaries {
    const reached: string[] = [];
    const triggered: string[] = [];
    for (const [i, before] of this.#before.entries()) {
      const at = this.#table.pa + i * ROW_BYTES;
      if (u64(this.#machine, at + REACHED) > before.reached) reached.push(before.id);
      if (u64(this.#machine, at + TRIGGERED) > before.triggered) triggered.push(before.id);
    }
    return { reached, triggered };
  }

  /** Switches the bugs on that are named, and all others off; until the next reset. */
  enable(ids: ReadonlySet<string>): void {
    for (const [i, { id }] of this.#before.entries())
      this.#machine.ram.write8(this.#table.pa + i * ROW_BYTES + NAME_BYTES, ids.has(id) ? 1 : 0);
  }
}

export function readCanaries(machine: Pick<Machine, 'ram'>, { pa, rows }: CanaryTable): Canary[] {
  const { ram } = machine;
  return Array.from({ length: rows }, (_, i) => {
    const at = pa + i * ROW_BYTES;
    const bytes = Array.from({ length: NAME_BYTES }, (_, n) => ram.read8(at + n));
    const end = bytes.indexOf(0);
    return {
      id: String.fromCharCode(...bytes.slice(0, end < 0 ? NAME_BYTES : end)),
      on: ram.read8(at + NAME_BYTES) !== 0,
      reached: u64(machine, at + REACHED),
      triggered: u64(machine, at + TRIGGERED),
    };
  });
}
