// The shell line that repeats a row of a sweep: the sweep's own words, without those that only a
// sweep has.

/** Options of a sweep that `run` does not have, each with a value. */
const ONLY_SWEEP = ['-o', '--output', '--events', '--kind', '--of', '--max-insns'];

/** A word as a POSIX shell needs it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** `words`: those behind `faults sweep`. */
export function replayCommand(words: readonly string[], maxInsns: number, fault: string): string {
  const kept: string[] = [];
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const option = ONLY_SWEEP.find(name => word === name || word.startsWith(`${name}=`));
    if (i >= end || option === undefined) kept.push(quoted(word));
    else if (word === option) i++;
  }
  return `kcovbox run --fault ${fault} --max-insns ${maxInsns} ${kept.join(' ')} </dev/null`;
}
