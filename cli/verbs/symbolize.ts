// `kcovbox symbolize`: PCs on standard input, functions and source lines on standard output, like addr2line -afi.
// A PC is taken for what kcov records, the return address of a hook call, if the image has such a call; `--addresses` turns that off.
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { addrOf, CallSites, cleanPath, type Frame, hex, Symbolizer } from '../../coverage/index.ts';
import { openElf } from '../cov/files.ts';
import { UserError } from '../io/fail.ts';

interface Options {
  kernel: string;
  json?: boolean;
  addresses?: boolean;
  strict?: boolean;
  inlines: boolean;
}

interface Answer {
  pc: string;
  /** The call instruction a recorded PC returns from; absent for plain addresses. */
  call?: string;
  frames: Frame[];
}

class Answers {
  private readonly symbolizer: Symbolizer;
  private readonly sites: CallSites | undefined;
  private readonly options: Options;

  constructor(options: Options) {
    const elf = openElf(options.kernel);
    this.options = options;
    this.symbolizer = new Symbolizer(elf);
    if (this.symbolizer.dwarf.isEmpty)
      throw new UserError(`${options.kernel} has no debug information: compile with -g`);
    if (options.addresses) return;
    try {
      this.sites = new CallSites(elf);
    } catch (error) {
      if (options.strict) throw error;
    }
  }

  of(text: string): Answer {
    const digits = text.trim().split(/\s+/)[0]!;
    if (!/^(0x)?[0-9a-f]{1,16}$/i.test(digits))
      throw new UserError(`"${text.trim().slice(0, 40)}" is no PC: expected hexadecimal digits`);
    const pc = addrOf(BigInt(digits.startsWith('0x') || digits.startsWith('0X') ? digits : `0x${digits}`));
    const site = this.sites?.find(pc) ?? -1;
    if (site < 0 && this.options.strict) {
      throw new UserError(
        this.sites ? `PC ${this.sites.explainMissing(pc)}` : `PC ${hex(pc)} is no call site`,
      );
    }
    const call = site < 0 ? undefined : this.sites!.call[site]!;
    const frames = this.symbolizer.frames(call ?? pc);
    const shown = this.options.inlines ? frames : [{ ...frames[0]!, function: frames.at(-1)!.function }];
    return { pc: hex(pc), ...(call !== undefined && { call: hex(call) }), frames: shown };
  }
}

function print(answer: Answer, json: boolean | undefined): string {
  if (json) {
    const frames = answer.frames.map(f => ({
      function: f.function,
      file: cleanPath(f.file),
      line: f.line,
      column: f.column,
      inline: f.inline,
    }));
    return `${JSON.stringify({ pc: answer.pc, ...(answer.call && { call: answer.call }), frames })}\n`;
  }
  const place = (f: Frame) => (f.file === '' ? '??:0' : `${cleanPath(f.file)}:${f.line}`);
  const lines = answer.frames.map(
    (f, i) => `${i === 0 ? '' : ' (inlined by) '}${f.function || '??'} ${place(f)}`,
  );
  return `${answer.pc}: ${lines.join('\n')}\n`;
}

export function register(program: Command): void {
  program
    .command('symbolize')
    .description('PCs on standard input -> function file:line, with inlined frames')
    .requiredOption('-k, --kernel <elf>', 'the image')
    .option('--json', 'one JSON object a line')
    .option('--addresses', 'take PCs as plain addresses, not as return addresses of hooks')
    .option('--strict', 'fail on a PC that is no call site of a hook')
    .option('--no-inlines', 'only the innermost line and the function that holds it')
    .addHelpText('after', '\nExample:\n  ./prog | grep ^0x | kcovbox symbolize -k kernel.elf')
    .action(async (options: Options) => {
      const answers = new Answers(options);
      let pending = '';
      for await (const line of createInterface({ input: process.stdin })) {
        if (line.trim() === '') continue;
        pending += print(answers.of(line), options.json);
        if (pending.length > 1 << 15) {
          process.stdout.write(pending);
          pending = '';
        }
      }
      process.stdout.write(pending);
    });
}
