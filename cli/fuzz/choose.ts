// The kernel that the options of `kcovbox fuzz` ask for, and the words of its command line.
import { findBug } from '../bugs/rows.ts';
import { UserError } from '../io/fail.ts';
import { chooseKernel, type RobustOptions } from '../run/robust.ts';

interface Chosen {
  readonly conf: string;
  /** All words of the command line. */
  readonly append: string;
}

/** Errors: UserError if the kernel is none of Linux, or lacks the bugs that `append` names. */
export function chooseTarget(options: RobustOptions, append = ''): Chosen {
  const { conf: wanted } = options;
  if (wanted !== undefined && !wanted.split('+').includes('linux'))
    throw new UserError(
      `--conf ${wanted}: the fuzzer needs a kernel with kcov of Linux, such as linux+kasan`,
    );
  const { conf, words } = chooseKernel({ ...options, dialect: 'linux' }, true);
  checkBugs(append, conf);
  return { conf, append: [...words, append].filter(Boolean).join(' ') };
}

/** A kernel without these bugs ignores the word, and the campaign would be one for nothing. */
function checkBugs(append: string, conf: string): void {
  for (const [, list = ''] of append.matchAll(/(?<!\S)bugs=(\S*)/g)) {
    if (!conf.split('+').includes('bugs'))
      throw new UserError(`--append bugs=${list}: the kernel ${conf} has no bugs; give --conf ${conf}+bugs`);
    for (const id of list.split(',')) if (id !== 'all') findBug(id);
  }
}
