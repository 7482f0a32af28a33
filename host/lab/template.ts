// The files of a new lab: a small one that holds everything that lab check asks for.
import type { LabManifest } from '../../grade/schema.ts';

const MANIFEST: LabManifest = {
  format: 'kcovbox lab',
  version: 1,
  title: 'A lab of your own',
  minutes: 30,
  learns: ['say here what one can do afterwards'],
  conf: 'linux+teach',
  budget: 200_000_000,
  files: [{ name: 'answer.c' }],
  checks: [
    {
      kind: 'run',
      id: 'ends',
      points: 40,
      says: 'answer.c ends with status 0',
      program: 'answer.c',
      hint: 'A hint for those who fail this check.',
    },
    {
      kind: 'cover',
      id: 'reaches',
      points: 60,
      says: 'answer.c makes the kernel look at a pipe',
      program: 'answer.c',
      places: ['fs/pipe.c: function sys_pipe2'],
    },
  ],
};

const TEXT = `# A lab of your own

What one learns, how long it takes, and what to do, in two to four pages. \`kcovbox lab check\` runs
the commands of the blocks that begin with \`sh\`:

\`\`\`sh
kcovbox run answer.c
kcovbox lab test          # status 1 before the work is done
\`\`\`
`;

const STARTER = `int main(void)
{
    return 0;
}
`;

const SOLUTION = `#include <unistd.h>

int main(void)
{
    int fd[2];

    return pipe(fd) == 0 ? 0 : 1;
}
`;

/** Contents by path. */
export const newLab = (title: string): Map<string, string> =>
  new Map([
    ['lab.json', `${JSON.stringify({ ...MANIFEST, title }, null, 2)}\n`],
    ['text.md', TEXT],
    ['starter/answer.c', STARTER],
    ['teacher/solution/answer.c', SOLUTION],
  ]);
