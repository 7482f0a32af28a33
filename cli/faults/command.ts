// The shell line that repeats a run of a sweep, of a hostile twin or of a search of schedules: the
// words of that command, without those that only it has.
import { printedWord } from '../io/shell-word.ts';

/** Options that `run` does not have or that are replaced, each with a value. */
const NOT_OF_RUN = ['-o', '--output', '--events', '--kind', '--of', '--runs', '--first', '--max-insns'];

/** The same without a value. */
const FLAGS = ['--misdirect'];

/** `--name=value`, or `-nvalue`. */
const hasValue = (word: string, name: string): boolean =>
  word.startsWith(name.startsWith('--') ? `${name}=` : name);

/**
 * `words`: those behind the verb; `how`: the options that make the run what it is, in place of
 * `more`.
 */
export function replayCommand(
  words: readonly string[],
  maxInsns: number,
  how: string,
  more: readonly string[] = [],
): string {
  const kept: string[] = [];
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const option = [...NOT_OF_RUN, ...more].find(name => word === name || hasValue(word, name));
    if (i < end && FLAGS.includes(word)) continue;
    if (i >= end || option === undefined) kept.push(printedWord(word));
    else if (word === option) i++;
  }
  return `kcovbox run ${how} --max-insns ${maxInsns} ${kept.join(' ')} </dev/null`;
}
