// A student who has only the text of a lab, as the page shows it: answers to labs 0 to 3. Names and
// numbers come from the text. The tests of lab 1, and the code of lab 2, which leave most to the
// student, are those of the teacher's solution.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/command.ts';

export interface LabText {
  readonly text: string;
  /** Rows of the first table. */
  readonly table: readonly (readonly string[])[];
}

const solution = (lab: string, name: string): string =>
  readFileSync(join(ROOT, 'labs', lab, 'teacher', 'solution', name), 'utf8');

/** Errors: the text does not name it. */
function named(text: string, word: string): string {
  if (!text.includes(word)) throw new Error(`the text does not name ${word}`);
  return word;
}

function first({ text }: LabText): Record<string, string> {
  const keys = [...text.matchAll(/^(\w+): the /gm)].map(([, key]) => key!);
  // `kcovbox demo` shows the way; the source has the rest.
  const known: Record<string, string> = { error: 'EBADF', function: 'transfer', file: 'fs/sys_rw.c' };
  return {
    'answers.txt': keys.map(key => `${key}: ${known[key] ?? ''}\n`).join(''),
    'first.c': `#include <signal.h>
#include <unistd.h>
int main(void)
{
	int fd[2];
	char c = 0;
	${named(text, 'signal(SIGPIPE, SIG_IGN)')};
	pipe(fd);
	pread(fd[0], &c, 1, 0);
	if (${named(text, 'fork()')} == 0) {
		${named(text, 'usleep()').replace('()', '(1000)')};
		return write(fd[1], &c, 1) != 1;
	}
	read(fd[0], &c, 1);
	close(fd[0]);
	write(fd[1], &c, 1);
	return 0;
}
`,
  };
}

/** The program for one system, from its column of the table. */
function client(rows: ReadonlyMap<string, string>, includes: string): string {
  const word = (row: string): string => rows.get(row)!.split(',')[0]!;
  const isPointer = (row: string): boolean => rows.get(row)!.includes('pointer');
  return `${includes}
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <${word('header')}>
int main(int argc, char **argv)
{
	uint64_t words = 8192, n;
	int mode = ${word('mode')};
	int fd = open("${word('device')}", O_RDWR);
	if (ioctl(fd, ${word('size')}, ${isPointer('size') ? '&words' : 'words'}) == -1)
		return 1;
	volatile uint64_t *area = mmap(0, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED || ioctl(fd, ${word('enable')}, ${isPointer('enable') ? '&mode' : 'mode'}) == -1)
		return 1;
	area[0] = 0;
	syscall(atol(argv[1]), -1, 0, 0);
	n = area[0];
	if (ioctl(fd, ${word('disable')}, 0) == -1)
		return 1;
	for (uint64_t i = 1; i <= n; i++)
		printf("0x%lx\\n", area[i]);
	return 0;
}
`;
}

function clients({ text, table }: LabText): Record<string, string> {
  const [head = [], ...rows] = table;
  const more: Record<string, string> = {
    NetBSD: `#include <${named(text, 'sys/ioccom.h')}>`,
    FreeBSD: `#include <${named(text, 'sys/param.h')}>`,
  };
  return Object.fromEntries(
    head.slice(1).map((system, i) => {
      const column = new Map(rows.map(row => [row[0]!, row[i + 1]!]));
      return [`${system.toLowerCase()}.c`, client(column, more[system] ?? '')];
    }),
  );
}

/** Files by the number of the lab. */
export const STUDENT: readonly ((lab: LabText) => Record<string, string>)[] = [
  first,
  () => ({ 'reads.c': solution('01-why-this-path', 'reads.c') }),
  ({ text }) => ({
    'row.def': `SYSCALL(${/number (\d+)/.exec(text)?.[1]}, ${named(text, 'resident')}, 2)\n`,
    'sys_resident.c': solution('02-system-call', 'sys_resident.c'),
    'tests.c': solution('02-system-call', 'tests.c'),
  }),
  clients,
];
