// The descriptions of the package, and those of the user, from files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Descriptions, parseDescriptions, parseSyscalls, type Source } from '../../fuzz/index.ts';
import { packageRoot, readXv6Tree, xv6Syscalls } from '../../toolchain/index.ts';
import { readText } from '../input.ts';

/** In the order in which they need one another. */
const FILES = ['files', 'processes', 'memory', 'events', 'sockets'];
/** Most bytes of a description. */
const BYTES_MAX = 1 << 20;

export interface DescriptionTexts {
  /** The kernel's tables of system calls: of the core, and of its options. */
  readonly tables: readonly string[];
  readonly sources: readonly Source[];
}

function tables(): string[] {
  const kernel = join(packageRoot(), 'kernel');
  const options = join(kernel, 'opt');
  const all = [join(kernel, 'syscall', 'syscalls.def')];
  for (const option of readdirSync(options).sort())
    if (readdirSync(join(options, option)).includes('syscalls.def'))
      all.push(join(options, option, 'syscalls.def'));
  return all.map(path => readFileSync(path, 'utf8'));
}

const read = (path: string): Source => ({
  name: path.replace(/.*[/\\]/, ''),
  text: readText(path, 'description', BYTES_MAX),
});

/** `more`: paths of descriptions of the user's. Errors: as `readText`. */
export function descriptionTexts(more: readonly string[] = []): DescriptionTexts {
  const own = FILES.map(name => join(packageRoot(), 'fuzz', 'descriptions', `${name}.kd`));
  return { tables: tables(), sources: [...own, ...more].map(read) };
}

/** The only call of a harness, in the form of the kernel's table: no kernel has this number. */
const HARNESS_TABLE = 'SYSCALL(1000000, test_one_input, 2)\n';

/** For a harness: its call; `more` may describe what the bytes are. */
export const harnessTexts = (more: readonly string[] = []): DescriptionTexts => ({
  tables: [HARNESS_TABLE],
  sources: [join(packageRoot(), 'fuzz', 'descriptions', 'harness.kd'), ...more].map(read),
});

/** Arguments of a call that has no description. */
const XV6_ARGS = 6;

/**
 * For xv6: the calls that the tree in `dir` has, those of the user's own with arguments of unknown
 * type. Errors: KcovboxError if it is no tree of xv6.
 */
export function xv6Texts(dir: string, more: readonly string[] = []): DescriptionTexts {
  const numbers = xv6Syscalls(readXv6Tree(dir));
  const rows = [...numbers].map(([name, number]) => `SYSCALL(${number}, ${name}, ${XV6_ARGS})\n`);
  const own = read(join(packageRoot(), 'fuzz', 'descriptions', 'xv6.kd'));
  // An empty line stays: messages have the numbers of lines.
  const known = own.text.replaceAll(/^call (\w+).*$/gm, (line, name) => (numbers.has(name) ? line : ''));
  return { tables: [rows.join('')], sources: [{ ...own, text: known }, ...more.map(read)] };
}

/** Errors: FuzzError with file and line. */
export const loadDescriptions = ({ tables, sources }: DescriptionTexts): Descriptions =>
  parseDescriptions(parseSyscalls(tables), sources);
