// `kcovbox fuzz exec`: one program, call by call; or as C.
import { Elf, Symbolizer } from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { crashOf, type Execution, type Executor, HALVES, parseProgram, programC } from '../../fuzz/index.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget, prepareTarget } from '../../host/fuzz/target.ts';
import { readText } from '../../host/input.ts';
import { writeTo } from '../io/output.ts';
import type { RobustOptions } from '../run/robust.ts';
import { chooseTarget } from './choose.ts';

export interface ExecOptions extends RobustOptions {
  describe?: string[];
  append?: string;
  c?: true;
  functions?: true;
}

const PROGRAM_MAX = 1 << 20;

const valueText = (value: bigint | undefined): string => {
  if (value === undefined) return 'did not return';
  const signed = BigInt.asIntN(64, value);
  return signed < 0n && signed > -4096n ? `${signed}` : `0x${value.toString(16)}`;
};

export async function execProgram(path: string, options: ExecOptions): Promise<number> {
  const text = readText(path, 'program', PROGRAM_MAX);
  const program = parseProgram(text, loadDescriptions(descriptionTexts(options.describe)), path);
  if (options.c) {
    writeTo('-', programC(program, `from ${path.replace(/.*[/\\]/, '')}`));
    return 0;
  }
  const { kernelSource, append } = options;
  const target = await prepareTarget({ ...chooseTarget(options, append), kernelSource });
  const executor = openTarget(target);
  const execution = executor.execute(program, 'pc', true);
  const title = crashOf(program, execution);
  const symbolizer = options.functions && new Symbolizer(new Elf(target.images.kernel, 'kernel'));
  const lines = execution.calls.map((call, i) => {
    const { begin, end, value } = call;
    const names = symbolizer ? `  ${functions(symbolizer, executor, call)}\n` : '';
    return `${program.calls[i]!.type.name}: ${valueText(value)}, ${end - begin} points\n${names}`;
  });
  const deferred = execution.extra > 0 ? `deferred work: ${execution.extra} points\n` : '';
  const units = execution.units.toLocaleString('en-US');
  writeTo(
    '-',
    `${lines.join('')}${deferred}${execution.end}, ${units} instructions\n` +
      visible(execution.console, '\n') +
      `${title === undefined ? '' : `crash: ${title}\n`}`,
  );
  return title === undefined ? 0 : 1;
}

/** The functions that a call entered, in this order. */
function functions(
  symbolizer: Symbolizer,
  { area }: Executor,
  { begin, end }: Execution['calls'][number],
): string {
  const names = new Set<string>();
  for (let n = begin; n < end; n++) {
    const at = 2 + HALVES.pc * n;
    // An address is the signed value of its 64 bits; the record has the one behind the hook's call.
    const addr = (area[at + 1]! | 0) * 0x1_0000_0000 + area[at]! - 1;
    for (const { function: name } of symbolizer.frames(addr).slice(-1)) names.add(name);
  }
  return [...names].join(' ');
}
