// The kernel's command line for a program as its first process. Also runs in the page.
import { KcovboxError } from '../emulator/index.ts';

/** The file of fw_cfg in which a kernel with the option FW_CFG looks for more words. */
export const CMDLINE_FILE = 'opt/kcovbox/cmdline';

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** Its words besides the program's own. */
export interface CommandLineOptions {
  readonly kcov: 'device' | 'guest' | 'off';
  readonly seed?: bigint | undefined;
  readonly append?: string;
  /** Devices whose drivers are probed right before the program, by their nodes' names. */
  readonly probeLate?: readonly string[] | undefined;
  /** More variables of the program's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The word that says how the guest's tty begins; default: as a stream of bytes as they are. */
  readonly tty?: string;
}

/**
 * A word of the kernel command line, as kernel/proc/init.c reads it: a backslash keeps the next
 * character.
 */
const word = (text: string): string => (text === '' ? '""' : text.replace(/[\\" ]/g, '\\$&'));

/**
 * A variable of the environment. The kernel looks for its own words behind every blank, also one of
 * a value (kernel/lib/cmdline.c); none begins with quotation marks, which stand for nothing here.
 */
const variable = ([name, value]: readonly [string, string]): string =>
  word(`env.${name}=${value}`).replaceAll('\\ ', '\\ ""');

/**
 * Words and characters that the kernel takes from its command line: WORDS_MAX in
 * kernel/proc/init.c, one page of arguments.
 */
const WORDS_MAX = 256;
const CHARACTERS_MAX = 65_000;

/** A part of the kernel command line that the user gave. */
interface Given {
  readonly noun: string;
  readonly text: string;
  readonly remedy: string;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const wordsOf = (text: string): number => text.match(/(?:\\.|"[^"]*"|[^ ])+/gs)?.length ?? 0;

/** Refuses what the kernel would cut off without a word, and blames the part that takes most. */
function checkWords(whole: string, parts: readonly Given[]): void {
  const check = (
    most: number,
    measure: (text: string) => number,
    say: (noun: string, n: number) => string,
  ) => {
    const total = measure(whole);
    if (total <= most) return;
    const sizes = parts.map(({ text }) => measure(text));
    const size = Math.max(...sizes);
    const { noun, remedy } = parts[sizes.indexOf(size)]!;
    const fit = Math.max(0, most - (total - size));
    throw refused(`${say(noun, size)}: ${fit} fit on the kernel's command line; ${remedy}`);
  };
  check(WORDS_MAX, wordsOf, (noun, n) => `${n} ${noun} are too many`);
  check(CHARACTERS_MAX, bytesOf, (noun, n) => `the ${noun} take ${n} bytes`);
}

/**
 * For the program /bin/`name`: the words of the kernel, and behind them those of the program.
 * Errors: one line, where the kernel would cut something off.
 */
export function commandLine(
  name: string,
  args: readonly string[],
  options: CommandLineOptions,
): { append: string; tail: string } {
  const append = [
    'quiet',
    `kcov=${options.kcov}`,
    ...(options.seed === undefined ? [] : [`seed=0x${options.seed.toString(16)}`]),
    ...(options.append ? [options.append] : []),
    ...(options.probeLate?.length ? [`probe_late=${options.probeLate.join(',')}`] : []),
    options.tty ?? 'tty=stream', // the first of equal words counts
  ].join(' ');
  const env = Object.entries(options.env ?? {}).map(variable);
  const argv = args.map(word);
  const tail = [word(`init=/bin/${name}`), ...env, ...(args.length > 0 ? ['--', ...argv] : [])].join(' ');
  checkWords(`${append} ${tail}`, [
    { noun: 'arguments', text: argv.join(' '), remedy: 'pass them in a file or on standard input' },
    { noun: 'words to append', text: options.append ?? '', remedy: 'give fewer' },
    { noun: 'variables of the environment', text: env.join(' '), remedy: 'pass them in a file' },
  ]);
  return { append, tail };
}
