// `kcovbox fuzz exec`: one program, call by call; or as C.
import { Elf, type Frame, Symbolizer } from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { faultText } from '../../emulator/index.ts';
import {
  crashOf,
  devicesOf,
  type Execution,
  type Executor,
  examine,
  HALVES,
  type Program,
  parseProgram,
  programC,
  programXv6C,
} from '../../fuzz/index.ts';
import { loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget } from '../../host/fuzz/target.ts';
import { readInput, readText } from '../../host/input.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { type Chosen, type GuestChoice, prepareChosen, textsFor } from './choose.ts';

export interface ExecOptions extends GuestChoice {
  /** Symbols of another Linux. */
  vmlinux?: string;
  c?: true;
  functions?: true;
  /** With the source lines of each function. */
  lines?: true;
  runs?: number;
  schedule?: string[];
}

/** Of `--runs`. */
const ORDERS = ['turns', 'rw', 'rp', 'pos', 'pct:2', 'pct:3'];

const PROGRAM_MAX = 1 << 20;

type Called = Execution['calls'][number];

const valueText = (value: bigint | undefined): string => {
  if (value === undefined) return 'did not return';
  const signed = BigInt.asIntN(64, value);
  return signed < 0n && signed > -4096n ? `${signed}` : `0x${value.toString(16)}`;
};

export async function execProgram(path: string, options: ExecOptions): Promise<number> {
  if (options.c && options.harness !== undefined)
    throw new UserError('fuzz exec -c: the call of a harness has no C program; omit one of the two');
  const text = readText(path, 'program', PROGRAM_MAX);
  const program = parseProgram(text, loadDescriptions(textsFor(options)), path);
  if (options.runs !== undefined) return sweep(program, options.runs, options);
  if (options.c) {
    const asC = options.xv6 === undefined ? programC : programXv6C;
    writeTo('-', asC(program, `from ${path.replace(/.*[/\\]/, '')}`));
    return 0;
  }
  const symbolsOf = symbolSource(options);
  const { target } = await prepareChosen(options, {
    hasThreads: program.schedule !== undefined,
    faultable: devicesOf(program),
  });
  const executor = openTarget(target);
  const { execution, title } = examine(executor, program, 'pc', true);
  const symbolizer = symbolsOf && new Symbolizer(symbolsOf(target.images));
  const lines = execution.calls.map((call, i) => {
    const { begin, end, value, hasBegun } = call;
    if (!hasBegun) return `${program.calls[i]!.type.name}: did not begin\n`;
    const names = symbolizer ? placesOf(symbolizer, executor, call, options.lines === true) : '';
    return `${program.calls[i]!.type.name}: ${valueText(value)}, ${end - begin} points\n${names}`;
  });
  const deferred = execution.extra > 0 ? `deferred work: ${execution.extra} points\n` : '';
  const faults = (program.faults ?? []).map(
    fault =>
      `fault ${faultText(fault)}: ${execution.faults.includes(fault) ? 'happened' : 'did not happen'}\n`,
  );
  const units = execution.units.toLocaleString('en-US');
  writeTo(
    '-',
    `${lines.join('')}${deferred}${faults.join('')}${execution.end}, ${units} instructions\n` +
      visible(execution.console, '\n') +
      `${title === undefined ? '' : `crash: ${title}\n`}`,
  );
  return title === undefined ? 0 : 1;
}

/** Where the names of functions come from; undefined: none are wanted. */
function symbolSource({
  functions,
  lines,
  linux,
  vmlinux,
  harness,
}: ExecOptions): ((images: Chosen['target']['images']) => Elf) | undefined {
  if (vmlinux !== undefined && linux === undefined)
    throw new UserError('fuzz exec: --vmlinux is for --linux');
  if (!functions && !lines) return undefined;
  if (harness !== undefined)
    return images => new Elf('program' in images ? images.program : images.kernel, harness);
  if (linux === undefined) return ({ kernel }) => new Elf(kernel, 'kernel'); // of kcovbox, or xv6
  if (vmlinux === undefined)
    throw new UserError('fuzz exec: an Image has no names of functions; give its --vmlinux FILE');
  const elf = new Elf(readInput(vmlinux, 'vmlinux'), vmlinux);
  return () => elf;
}

/** Runs the program with the seeds 1 to `runs` of each order, and counts what goes wrong. */
async function sweep(program: Program, runs: number, options: ExecOptions): Promise<number> {
  const { schedule: orders = ORDERS } = options;
  if (!program.schedule)
    throw new UserError('fuzz exec --runs: the program has one thread, so all its runs are equal');
  const { target } = await prepareChosen(options, { hasThreads: true, faultable: devicesOf(program) });
  const executor = openTarget(target, { canaries: findCanaries(target.images.kernel) });
  const line = progressLine();
  let [text, all] = ['', 0];
  for (const [i, order] of orders.entries()) {
    const counts = new Map<string, { runs: number; first: number }>();
    for (let seed = 1; seed <= runs; seed++) {
      if (seed % 64 === 0) line.show(`${i * runs + seed} of ${orders.length * runs} runs`);
      const execution = executor.execute({ ...program, schedule: { order, seed: BigInt(seed) } });
      const title = crashOf(program, execution);
      const triggered = (execution.bugs?.triggered ?? []).map(bug => `triggers ${bug}`);
      for (const what of [...triggered, ...(title === undefined ? [] : [title])]) {
        const known = counts.get(what) ?? { runs: 0, first: seed };
        counts.set(what, { ...known, runs: known.runs + 1 });
      }
    }
    const found = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = found.map(([what, { runs, first }]) => `${runs} ${what} (first 0x${first.toString(16)})`);
    text += `${order.padEnd(6)} ${rows.length > 0 ? rows.join(', ') : 'nothing'}\n`;
    all += counts.size;
  }
  line.clear();
  writeTo('-', `${runs} runs of each order\n${text}`);
  return all > 0 ? 1 : 0;
}

/** The frames of each point of a call, innermost first. */
function* framesOf(symbolizer: Symbolizer, executor: Executor, call: Called): Generator<Frame[]> {
  const { begin, end } = call;
  const area = executor.recordsOf(call);
  for (let n = begin; n < end; n++) {
    const at = 2 + HALVES.pc * n;
    // An address is the signed value of its 64 bits; the record has the one behind the hook's call.
    yield symbolizer.frames((area[at + 1]! | 0) * 0x1_0000_0000 + area[at]! - 1);
  }
}

/** The functions that a call entered, in this order; `hasLines`: each with its lines. */
function placesOf(symbolizer: Symbolizer, executor: Executor, call: Called, hasLines: boolean): string {
  const lines = new Map<string, Set<number>>();
  for (const frames of framesOf(symbolizer, executor, call)) {
    const { function: name, file, line } = hasLines ? frames[0]! : frames.at(-1)!;
    // A kernel without debug information has labels of the assembler between its functions.
    if (name === '' || name.startsWith('.L')) continue;
    const key = hasLines ? `${name} ${file.replace(/^\.\//, '')}` : name;
    const known = lines.get(key) ?? new Set();
    lines.set(key, line > 0 ? known.add(line) : known);
  }
  if (!hasLines) return `  ${[...lines.keys()].join(' ')}\n`;
  const rows = [...lines].map(([key, found]) => `  ${key}:${[...found].sort((a, b) => a - b).join()}\n`);
  return rows.join('');
}
