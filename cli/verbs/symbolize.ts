// `kcovbox symbolize`: PCs on the command line or on standard input, functions and source lines on
// standard output, like addr2line -afi. A PC is taken for what kcov records, the return address of
// a hook call, if the image has such a call; `--addresses` turns that off.
import type { Command } from 'commander';
import {
  type Addr,
  addrOf,
  CallSites,
  cleanPath,
  type Elf,
  type Frame,
  hex,
  Symbolizer,
} from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { tell } from '../../toolchain/index.ts';
import { openElf } from '../cov/files.ts';
import { findByPcs } from '../cov/find-image.ts';
import { UserError } from '../io/fail.ts';
import { linesOf } from '../io/lines.ts';
import { asciiJson } from '../io/output.ts';

/** PCs that are enough to find the image if it is not given. */
const PROBES = 1000;

interface Options {
  kernel?: string;
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

/** Of an address without code; a symbol before it says nothing about it. */
const NOWHERE: Frame = {
  function: '',
  file: '',
  line: 0,
  column: 0,
  declFile: '',
  declLine: 0,
  inline: false,
};

class Answers {
  private readonly elf: Elf;
  private readonly symbolizer: Symbolizer;
  private readonly sites: CallSites | undefined;
  private readonly options: Options;

  constructor(elf: Elf, options: Options) {
    this.elf = elf;
    this.options = options;
    this.symbolizer = new Symbolizer(elf);
    if (this.symbolizer.dwarf.isEmpty)
      throw new UserError(`${elf.name} has no debug information: compile it with -g`);
    if (options.addresses) return;
    try {
      this.sites = new CallSites(elf);
    } catch (error) {
      if (options.strict) throw error;
    }
  }

  of(pc: Addr): Answer {
    const site = this.sites?.find(pc) ?? -1;
    if (site < 0 && this.options.strict) {
      throw new UserError(
        this.sites
          ? `PC ${this.sites.explainMissing(pc)}`
          : `PC ${hex(pc)} is not the return address of a hook`,
      );
    }
    if (!this.elf.isExecutable(pc)) return { pc: hex(pc), frames: [NOWHERE] };
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
    return `${asciiJson({ pc: answer.pc, ...(answer.call && { call: answer.call }), frames })}\n`;
  }
  const place = (f: Frame) => (f.file === '' ? '??:0' : `${visible(cleanPath(f.file))}:${f.line}`);
  const lines = answer.frames.map(
    (f, i) => `${i === 0 ? '' : ' (inlined by) '}${visible(f.function) || '??'} ${place(f)}`,
  );
  return `${answer.pc}: ${lines.join('\n')}\n`;
}

/** The first word of a line in hexadecimal, or the first one with 0x behind other words. */
function pcIn(line: string): Addr | undefined {
  const words = line.trim().split(/\s+/);
  const word = /^[0-9a-f]{1,16}$/i.test(words[0]!)
    ? `0x${words[0]}`
    : words.find(each => /^0x[0-9a-f]{1,16}$/i.test(each));
  return word === undefined ? undefined : addrOf(BigInt(word));
}

/** The PCs of standard input. Errors: UserError, if there are lines and none has one. */
async function* readPcs(): AsyncGenerator<Addr> {
  let number = 0;
  let found = 0;
  let without = 0;
  let first = '';
  for await (const line of linesOf(process.stdin, 'standard input')) {
    number++;
    if (line.trim() === '') continue;
    const pc = pcIn(line);
    if (pc === undefined) {
      if (++without === 1) first = `line ${number}: "${line.trim().slice(0, 40)}" has no PC`;
    } else {
      found++;
      yield pc;
    }
  }
  if (without === 0) return;
  if (found === 0) throw new UserError(`${first}: expected hexadecimal digits`);
  tell(`kcovbox: ${visible(first)}${without > 1 ? `, nor have ${without - 1} more` : ''}\n`);
}

/** The PCs of the command line. Errors: UserError for a word that is none. */
function pcsOf(words: readonly string[]): Addr[] {
  return words.map(word => {
    if (!/^(0x)?[0-9a-f]{1,16}$/i.test(word))
      throw new UserError(`"${word}" is not a PC: expected hexadecimal digits`);
    return pcIn(word)!;
  });
}

/** Answers every PC, once there are enough of them to find the image by. */
async function* answer(pcs: Iterable<Addr> | AsyncIterable<Addr>, options: Options): AsyncGenerator<Answer> {
  let answers = options.kernel === undefined ? undefined : new Answers(openElf(options.kernel), options);
  let held: Addr[] = [];
  for await (const pc of pcs) {
    if (answers) yield answers.of(pc);
    else if (held.push(pc) === PROBES) {
      answers = new Answers(findByPcs(held), options);
      for (const early of held) yield answers.of(early);
      held = [];
    }
  }
  if (answers || held.length === 0) return;
  const found = new Answers(findByPcs(held), options);
  for (const pc of held) yield found.of(pc);
}

export function register(program: Command): void {
  program
    .command('symbolize')
    .description('translate PCs to functions and source lines, with inlined frames')
    .argument('[pc...]', 'in hexadecimal; without any, those on standard input')
    .option(
      '-k, --kernel <elf>',
      'the image (default: the kernel, built here or packaged, that all PCs fit; of one name, the last used)',
    )
    .option('--json', 'print one JSON object per line')
    .option('--addresses', 'treat PCs as plain addresses, not as return addresses of hooks; needs -k')
    .option('--strict', 'fail on a PC that is not the return address of a hook')
    .option('--no-inlines', 'print only the innermost line and its function')
    .addHelpText(
      'after',
      '\nThe PC of a line of standard input is its first word, or the first that begins with 0x; the rest\n' +
        'is ignored.\n' +
        'A PC where the image has no code is ?? ??:0, as with addr2line; --strict makes it an error.\n' +
        'Examples:\n  kcovbox run prog.c | kcovbox symbolize\n' +
        '  kcovbox symbolize $(kcovbox cov export --format rawcover a.kcov | head -n 1)\n' +
        '  kcovbox cov export --format rawcover a.kcov | kcovbox symbolize --json',
    )
    .action(async (words: string[], options: Options) => {
      if (options.addresses && options.kernel === undefined)
        throw new UserError('--addresses needs the image: add -k ELF');
      let pending = '';
      for await (const found of answer(words.length > 0 ? pcsOf(words) : readPcs(), options)) {
        pending += print(found, options.json);
        if (pending.length > 1 << 15) {
          process.stdout.write(pending);
          pending = '';
        }
      }
      process.stdout.write(pending);
    });
}
