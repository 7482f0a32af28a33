// The examples of --help are commands that work: each is run as it stands in the help, in a folder
// with the files that it names.
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pagesOf } from '../../cli/docs/describe.ts';
import { createProgram } from '../../cli/main.ts';
import { objectDir } from '../../toolchain/index.ts';
import { kcovbox, kcovboxLines, type Ran, type RanLine, ROOT, shell } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-examples-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Examples that other tests run, or that change the machine, by the beginning of the line. */
const ELSEWHERE: readonly (readonly [begin: string, where: string])[] = [
  ['kcovbox bench', 'test/bench'],
  ['kcovbox boot', 'a kernel of others: test/machine/xv6.oracle.test.ts'],
  ['kcovbox cache prune', 'test/cli/commands.guest.test.ts: it would empty the cache'],
  ['kcovbox check', 'test/cli/check.oracle.test.ts'],
  ['kcovbox serve', 'it serves until it is ended: test/web/serve.oracle.test.ts'],
  ['kcovbox fuzz', 'test/cli/fuzz.guest.test.ts'],
  ['kcovbox bugs score --json campaign', 'test/cli/fuzz.guest.test.ts'],
  ['kcovbox experiment', 'test/cli/experiment.guest.test.ts'],
  ['kcovbox lab ', 'test/lab/grade.guest.test.ts; lab check: test/lab/labs.slow.test.ts'],
  ['kcovbox grade', 'test/lab/grade.guest.test.ts'],
  ['kcovbox faults', 'test/cli/faults.guest.test.ts'],
  ['kcovbox schedules', 'test/cli/schedules.guest.test.ts'],
  ['kcovbox debug', 'test/debug'],
  ['kcovbox why', 'test/debug/why.guest.test.ts'],
  ['kcovbox help', 'test/cli/cli.guest.test.ts'],
  ['kcovbox ktest', 'test/cli/ktest.guest.test.ts'],
  ['kcovbox run --kasan', 'test/cli/robust.guest.test.ts'],
  ['kcovbox replay -s -S', 'it waits for gdb: test/debug'],
  ['kcovbox run --smp 2 --sched-seed', 'one of a loop: test/debug/why.guest.test.ts'],
  ['kcovbox run -s -S', 'it waits for gdb: test/debug'],
];

/** The statuses of examples that do not end with 0. */
const STATUS: readonly (readonly [begin: string, status: number])[] = [
  ['kcovbox cov report --fail-under 80', 1],
];

const pages = pagesOf(await createProgram(undefined));
const lines = [
  ...new Set(
    pages.flatMap(({ notes }) =>
      notes
        .split('\n')
        .filter(line => /^ +kcovbox /.test(line))
        .map(line => line.trim().replace(/ {4,}.*$/, '')),
    ),
  ),
];
const isElsewhere = (line: string): boolean => ELSEWHERE.some(([begin]) => line.startsWith(begin));
const own = lines.filter(line => !isElsewhere(line));

/** These need no shell, and run in one process. */
const QUOTED = /'([^']*)'|"([^"$]*)"/;
const simple = own.filter(line => /^kcovbox [\w ./,=%@-]+$/.test(line.replace(new RegExp(QUOTED, 'g'), '')));
const wordsOf = (line: string): string[] =>
  [...line.matchAll(new RegExp(`${QUOTED.source}|\\S+`, 'g'))].slice(1).map(([word, a, b]) => a ?? b ?? word);

const PROGRAM = 'int main(void) { return 0; }\n';

let together: RanLine[];
beforeAll(() => {
  const run = (...args: string[]): void => {
    const { status, stderr } = kcovbox(args, { cwd });
    if (status !== 0) throw new Error(`kcovbox ${args.join(' ')}: status ${status}, ${stderr}`);
  };
  for (const name of ['kernel', 'my-kernel'])
    cpSync(join(ROOT, 'kernel'), join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, 'prog.c'), PROGRAM);
  for (const name of ['examples', 'bugs']) cpSync(join(ROOT, name), join(cwd, name), { recursive: true });
  writeFileSync(
    join(cwd, 'mydev.ts'),
    `import { defineDevice } from 'kcovbox/device';
     export default defineDevice({ name: 'mydev', compatible: 'me,mydev', doc: 'An example.',
       params: { depth: 4 }, registers: { id: { at: 0, access: 'r', doc: 'constant' } } });`,
  );
  run('run', '--record', 'bug.kcapsule', 'prog.c');
  run('run', '--trace', '--cover', 'a.kcov', 'prog.c');
  for (const name of ['b', 'new', 'old', 'all']) copyFileSync(join(cwd, 'a.kcov'), join(cwd, `${name}.kcov`));
  run('capsule', 'thin', '-o', 'thin.kcapsule', 'bug.kcapsule');
  run('build', 'kernel', '-o', 'kernel.elf');
  mkdirSync(join(cwd, 'cache'));
  symlinkSync(objectDir(), join(cwd, 'cache', 'objects'));
  together = kcovboxLines(simple.map(wordsOf), { cwd });
}, 300_000);

function runLine(line: string): Ran {
  const place = simple.indexOf(line);
  if (place >= 0) return together[place]!;
  // Only a program that uses kcov itself knows PCs.
  const client = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
  const prints = /run prog\.c \| kcovbox symbolize/.test(line);
  writeFileSync(join(cwd, 'prog.c'), prints ? readFileSync(client) : PROGRAM);
  // Other tests have built kernels of one name that these PCs would fit, too. Compiled files are
  // the same.
  const env = line.includes('symbolize') ? { KCOVBOX_CACHE: join(cwd, 'cache') } : {};
  return shell(`set -o pipefail; ${line}`, { cwd, env });
}

test.each(own)('%s', line => {
  const { status, stdout, stderr } = runLine(line);
  const wanted = STATUS.find(([begin]) => line.startsWith(begin))?.[1] ?? 0;
  expect({ status, stderr }).toEqual({ status: wanted, stderr: expect.not.stringMatching(/error|usage/i) });
  if (line.includes('symbolize')) expect(stdout).toMatch(/kernel\/\S+\.[cS]/);
  if (line.includes('explain')) expect(stdout).toMatch(/^.*0x[0-9a-f]{16}/);
});

test('every exception is one of the examples', () => {
  for (const [begin] of [...ELSEWHERE, ...STATUS])
    expect(
      lines.some(line => line.startsWith(begin)),
      begin,
    ).toBe(true);
  expect(own.length).toBeGreaterThan(30);
  expect(simple.length).toBeGreaterThan(20);
});
