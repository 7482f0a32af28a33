// Copies of a student's tests: with other names and in another order, the text and the coverage of
// the kernel tell; written again call by call, the coverage alone. Tests of the same functions by
// somebody else are not alike.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kcovbox, ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-alike-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ADA = readFileSync(join(ROOT, 'labs/01-why-this-path/teacher/solution/reads.c'), 'utf8');

/** The tests in the opposite order, in the file and in main, with other names. */
function reordered(source: string): string {
  const [head = '', ...functions] = source.split(/^(?=static |int main)/m);
  const [helper = '', ...tests] = functions;
  const main = tests
    .pop()!
    .replace(/(?: {4}RUN\(\w+\);\n)+/, runs => `${runs.trim().split('\n').reverse().join('\n')}\n`);
  const names = ['file_with', 'positions', 'seeking', 'vectors', 'a_number_that_is_not_open', 'pipes'];
  const text = [head, helper, ...tests.reverse(), main].join('');
  return names.reduce((all, name, i) => all.replace(new RegExp(`\\b${name}\\b`, 'g'), `own_${i}`), text);
}

/** The same conditions as statements of another form: few tokens in a row are left. */
const rewritten = (source: string): string =>
  source
    .replace('#include "check.h"', '#include "check.h"\n#include <stdbool.h>')
    .replace(/^ {4}CHECK\(([^;]*)\);$/gm, (_, condition: string, at: number) =>
      at % 2 === 0
        ? `    { bool fine = (${condition.replaceAll(' && ', ') && (')}); if (!fine) _exit(3); }`
        : `    switch (!(${condition})) { case 1: exit(4); default: break; }`,
    )
    .replace(/int fd = /g, 'int none = 0, fd = none ? 1 : ');

const EVE = `#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/uio.h>
static void whole(void)
{
	char got[16] = {0};
	int p[2], q;
	CHECK(pipe(p) == 0);
	for (int i = 0; i < 6; i++)
		CHECK(write(p[1], "0123456789", i) == i);
	CHECK(read(p[0], got, 16) == 15);
	q = dup(p[0]);
	close(p[0]);
	CHECK(read(q, got, 0) == 0);
	close(p[1]);
	CHECK(read(q, got, 4) == 0);
	CHECK(lseek(q, 1, SEEK_CUR) == -1);
	close(q);
}
static void zero(void)
{
	char page[64];
	struct iovec v = {page, 64};
	int z = open("/dev/null", O_RDONLY), n;
	CHECK(z >= 0);
	CHECK(readv(z, &v, 1) == 0);
	CHECK(pread(z, page, 9, 100) == 0);
	CHECK(write(z, page, 1) == -1);
	n = open("/dev/null", O_WRONLY);
	CHECK(writev(n, &v, 1) == 64);
	CHECK(read(n, page, 1) == -1);
	CHECK(lseek(n, 0, SEEK_END) == 0);
	close(n);
	close(z);
}
static void file(void)
{
	char c;
	int f = open("/eve", O_RDWR | O_CREAT, 0644), g = open("/eve", O_RDONLY);
	CHECK(pwrite(f, "abc", 3, 10) == 3);
	CHECK(read(g, &c, 1) == 1 && c == 0);
	CHECK(lseek(g, -1, SEEK_END) == 12);
	CHECK(read(g, &c, 1) == 1 && c == 'c');
	CHECK(read(g, &c, 1) == 0);
	CHECK(close(open("/eve", O_WRONLY | O_TRUNC)) == 0);
	CHECK(pread(g, &c, 1, 5) == 0);
	CHECK(write(g, &c, 1) == -1);
	close(g);
	close(f);
}
int main(void)
{
	RUN(file);
	RUN(zero);
	RUN(whole);
	DONE();
}
`;

test('copies are found by their coverage, and by their text where it is left', () => {
  const lab = join(dir, 'lab');
  expect(kcovbox(['lab', 'new', lab], { cwd: dir }).status).toBe(0);
  const programs = { ada: ADA, bob: reordered(ADA), cyn: rewritten(ADA), eve: EVE };
  for (const [name, text] of Object.entries(programs)) {
    mkdirSync(join(dir, 'class', name), { recursive: true });
    writeFileSync(join(dir, 'class', name, 'answer.c'), text);
  }
  const words = ['grade', 'class', '--lab', lab, '-o', 'graded', '--no-capsules'];
  const { status, stdout } = kcovbox(words, { cwd: dir, timeout: 170_000 });
  expect(status).toBe(0);
  // Each of them runs to its end: one that does not compile would be alike to nobody.
  expect(stdout.match(/^\w+ +(40|100)\/100 /gm)).toHaveLength(4);
  const alike = stdout.split('\n').filter(line => line.startsWith('alike'));
  const pairs = alike
    .map(line => line.replace(/, \d+ %$/, '').replace(/(: )(\w+) and (\w+)/, '$1$2 $3'))
    .sort();
  expect(pairs).toEqual([
    'alike in coverage: ada bob',
    'alike in coverage: ada cyn',
    'alike in coverage: bob cyn',
    'alike: ada bob',
  ]);
  const page = readFileSync(join(dir, 'graded', 'class.html'), 'utf8');
  const [, coverage = ''] = page.split('Alike in the coverage of their own tests');
  expect(coverage.match(/<tr><td>/g)).toHaveLength(3);
});
