// docs/bugs.md: generated from the rows and the sources of the kernel.
import { BUG_CLASSES, type Bug } from '../../run/bugs/row.ts';
import { guardsOf } from './guards.ts';
import { BUG_CONF } from './guest.ts';
import { bugPage, fixOf } from './text.ts';

const TITLES = { memory: 'Memory', logic: 'Logic and error numbers', concurrency: 'Concurrency' } as const;

const head = (count: number): string => `# Historical bugs

<!-- Generated: UPDATE_DOCS=1 npx vitest run --project unit test/kernel/bugs.test.ts -->

Tools that look for bugs are compared best on bugs that kernels have had. The guest kernel
re-creates ${count} of them: the same missing check, lock or order, in its own code at the place that
corresponds. None is invented; each names its fix. Ordinary kernels have none of them: the guards
are compiled in by the fragment \`bugs\` alone, and without it the objects are the same bytes as
without the guards.

    kcovbox bugs list                       the table below
    kcovbox bugs show epoll_loop            origin, re-creation and trigger of one
    kcovbox bugs run epoll_loop             runs the trigger, and says what happened
    kcovbox bugs run epoll_loop --off       the same without the bug: nothing happens
    kcovbox bugs score programs/            which bugs the C programs of a folder show
    kcovbox bugs score campaign/            the same of a campaign of kcovbox fuzz

In a kernel with the fragment, a bug is off until the word \`bugs=ID,ID\` of the command line names
it. \`kcovbox bugs enable ID\` prints a command line of \`kcovbox run\` for that; with \`--record FILE\`
it makes a capsule, which \`kcovbox replay FILE\` repeats. \`bugs run\` uses the configuration
\`${BUG_CONF}\`, which has all checkers, with \`panic_on_warn\`.

## Reached, triggered, detected

Each bug has a canary: two counters in the kernel's data that the host reads by their symbol.
*Reached* counts executions of the faulty code. *Triggered* counts those in which the condition of
the bug held: the length was too long, or the object was freed while it was used. Counting takes no
branch and no comparison of instrumented code, so kcov records nothing of it, but a guard is a
branch: a kernel with the fragment has more points than one without. *Detected* is an effect that
somebody can see: a report of KASAN, UBSAN or lockdep, a panic, a hang, or a wrong result that a
program checks.

A bug of concurrency needs two harts. Its row names the seed of the order in which harts take turns
(\`--sched-seed\`) where the usual order does not show it; the run is then the same on every machine.

\`score\` runs each program with all bugs, and again without those that it has triggered, until it
triggers no new one. Each bug that was triggered is then switched on alone: it is detected if the
run ends worse than without bugs. A tool that keeps its programs in another form prints them as C.
The programs of a [campaign](fuzzing.md) run on its own kernel, from its snapshot; there a bug is
detected if the title of a crash differs, or a value that a call returns.

`;

/** The whole page. */
export function bugDocument(bugs: readonly Bug[]): string {
  const rows = bugs.map(
    bug => `| [\`${bug.id}\`](#${bug.id}) | ${bug.class} | ${bug.upstream.project} | ${fixOf(bug)} |\n`,
  );
  const sections = BUG_CLASSES.map(name => {
    const pages = bugs.filter(bug => bug.class === name).map(bug => bugPage(bug, guardsOf(bug.id)));
    return `## ${TITLES[name]}\n\n${pages.join('\n')}`;
  });
  const table = `## The bugs\n\n| bug | class | project | fix |\n| --- | --- | --- | --- |\n${rows.join('')}`;
  return `${head(bugs.length)}${table}\n${sections.join('\n')}`;
}
