// The coverage trace of a student's own tests: for each system call, in order, the code of the
// kernel that it executed. Copies with other names and in another order have the same calls.
import { type Addr, Elf, pcOf } from '../../coverage/index.ts';
import type { KcovOrigin, KcovSink } from '../../emulator/index.ts';
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

/** A place of the kernel's code where a hook records. */
interface Point {
  readonly text: string;
  readonly isEntry: boolean;
}

/** The present call of a thread. */
interface OpenCall {
  call: number;
  readonly points: Set<Point>;
  wasEntry: boolean;
}

/**
 * Texts of the calls: number, and functions of the kernel with the offsets that were recorded in
 * them, which do not depend on the rest of the image. A program makes millions of records, so a
 * record allocates nothing: points are objects, which become texts at the end of their call.
 */
class Calls implements KcovSink {
  readonly isPassive = true;
  readonly list: string[] = [];
  readonly #elf: Elf;
  readonly #points = new Map<Addr, Point>();
  /** By thread. */
  readonly #open = new Map<number, OpenCall>();

  constructor(elf: Elf) {
    this.#elf = elf;
  }

  record({ tid, syscall, context }: KcovOrigin, isEdge: boolean, words: Uint32Array): void {
    if (context !== 'task' || isEdge || words.length > 2) return;
    const point = this.#pointAt((words[1]! | 0) * 2 ** 32 + words[0]!);
    let now = this.#open.get(tid);
    if (!now || (point.isEntry && !now.wasEntry)) {
      this.#end(now);
      this.#open.set(tid, (now = { call: syscall, points: new Set(), wasEntry: point.isEntry }));
    }
    now.wasEntry = point.isEntry;
    if (syscall >= 0) now.call = syscall;
    now.points.add(point);
  }

  /** All calls, of which equal ones in a row are one: a loop is one item. */
  end(): readonly string[] {
    for (const now of this.#open.values()) this.#end(now);
    return this.list;
  }

  #end(now: OpenCall | undefined): void {
    if (!now || now.call < 0) return; // a page fault depends on where things lie
    // Static functions share names.
    const texts = new Set(Array.from(now.points, ({ text }) => text));
    const text = `${now.call} ${[...texts].sort().join(' ')}`;
    if (this.list.at(-1) !== text) this.list.push(text);
  }

  #pointAt(addr: Addr): Point {
    let known = this.#points.get(addr);
    if (!known) {
      const symbol = this.#elf.symbols.at(addr);
      known = {
        text: symbol ? `${symbol.name}+${addr - symbol.addr}` : pcOf(addr).toString(16),
        isEntry: symbol?.name === 'trap_handle',
      };
      this.#points.set(addr, known);
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
