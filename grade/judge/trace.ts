// The coverage trace of a student's own tests: for each system call, in order, the code of the
// kernel that it executed. Copies with other names and in another order have the same calls.
import { addrOf, Elf } from '../../coverage/index.ts';
import type { KcovSink } from '../../emulator/index.ts';
import type { LabCheck } from '../schema.ts';
import { bytesOf, type Submission } from './lab.ts';
import type { Prepared, RunSpec, Runs } from './runs.ts';

/** Of a check whose program is the student's, and is not told which calls to make. */
const TESTED: readonly LabCheck['kind'][] = ['run', 'cover', 'mutants'];

/** A source that opens kcov before the program begins, and records each PC as often as it runs. */
const TRACED = 'kcovbox-traced.c';
const SELF = 'kcov-self.h';

const sourceOf = (program: string): string => `#define _GNU_SOURCE
#if !defined(__OpenBSD__) && !defined(__NetBSD__) && !defined(__FreeBSD__)
#include <linux/kcov.h>
#define KCOV_TRACE_UNIQ_PC KCOV_TRACE_PC
#endif
#include "${SELF}"
#include "${program}"
`;

/** The checks whose programs are traced, one for each program. */
export function tracedChecks({ lab }: Pick<Runs, 'lab'>): RunSpec[] {
  const own = new Set(lab.manifest.files.filter(({ place }) => place === undefined).map(({ name }) => name));
  const specs = new Map<string, RunSpec>();
  for (const check of lab.manifest.checks)
    if (TESTED.includes(check.kind) && 'program' in check && own.has(check.program))
      if (!specs.has(check.program)) specs.set(check.program, check);
  return [...specs.values()];
}

/** The submission with the sources that trace `program`. `self`: guest-programs/kcov-self.h. */
export const withTrace = ({ files, ...rest }: Submission, program: string, self: string): Submission => ({
  ...rest,
  files: new Map([...files, [TRACED, bytesOf(sourceOf(program))], [SELF, bytesOf(self)]]),
});

/**
 * Texts of the calls: number, and functions of the kernel with the offsets that were recorded in
 * them, which do not depend on the rest of the image.
 */
class Calls implements KcovSink {
  readonly isPassive = true;
  readonly list: string[] = [];
  readonly #elf: Elf;
  readonly #names = new Map<string, { text: string; isEntry: boolean }>();
  /** By thread: the points of its present call. */
  readonly #open = new Map<number, { call: number; points: Set<string>; wasEntry: boolean }>();

  constructor(elf: Elf) {
    this.#elf = elf;
  }

  record(...[{ tid, syscall, context }, isEdge, words]: Parameters<KcovSink['record']>): void {
    if (context !== 'task' || isEdge || words.length > 2) return;
    const { text, isEntry } = this.#nameOf((BigInt(words[1]!) << 32n) | BigInt(words[0]!));
    let now = this.#open.get(tid);
    if (!now || (isEntry && !now.wasEntry)) {
      this.#end(now);
      this.#open.set(tid, (now = { call: syscall, points: new Set(), wasEntry: isEntry }));
    }
    now.wasEntry = isEntry;
    if (syscall >= 0) now.call = syscall;
    now.points.add(text);
  }

  /** All calls, of which equal ones in a row are one: a loop is one item. */
  end(): readonly string[] {
    for (const now of this.#open.values()) this.#end(now);
    return this.list;
  }

  #end(now: { call: number; points: Set<string> } | undefined): void {
    if (!now || now.call < 0) return; // a page fault depends on where things lie
    const text = `${now.call} ${[...now.points].sort().join(' ')}`;
    if (this.list.at(-1) !== text) this.list.push(text);
  }

  #nameOf(pc: bigint): { text: string; isEntry: boolean } {
    const key = pc.toString(16);
    let known = this.#names.get(key);
    if (!known) {
      const addr = addrOf(pc);
      const symbol = this.#elf.symbols.at(addr);
      known = {
        text: symbol ? `${symbol.name}+${addr - symbol.addr}` : key,
        isEntry: symbol?.name === 'trap_handle',
      };
      this.#names.set(key, known);
    }
    return known;
  }
}

/** The calls of a program; none where it does not compile. `runs`: of a submission `withTrace`. */
export async function traceOf(
  runs: Runs,
  { args, harts, budget, append }: RunSpec,
): Promise<readonly string[]> {
  const spec = {
    program: TRACED,
    ...(args && { args }),
    ...(harts !== undefined && { harts }),
    ...(budget !== undefined && { budget }),
    ...(append !== undefined && { append }),
  };
  let prepared: Prepared;
  try {
    prepared = await runs.prepare(spec);
  } catch {
    return []; // its score says why
  }
  const calls = new Calls(new Elf(prepared.images.kernel, 'kernel'));
  await runs.run(prepared, false, guest => guest.machine.board.kcov?.observe(calls));
  return calls.end();
}
