// The texts of the labs are true: what they name exists, in the file that they say; and they take
// as long as lab.json says. That their commands run is lab check's to say.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Lab, labNames, openLab } from '../../host/lab/lab.ts';
import { ROOT } from '../support/command.ts';

const labs = labNames().map(openLab);
const wholeText = ({ folder }: Lab): string => readFileSync(join(folder, 'text.md'), 'utf8');
/** The same in one line, without blocks of code. */
const proseOf = (lab: Lab): string =>
  wholeText(lab)
    .replace(/^```[\s\S]*?^```|^ {4}.*$/gm, '')
    .replaceAll(/\s+/g, ' ');
const codeOf = (lab: Lab): string[] => [...proseOf(lab).matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

/** Folders that a path of a text may begin in. */
const roots = ({ folder }: Lab): string[] => [
  ROOT,
  join(ROOT, 'kernel'),
  join(ROOT, 'guest-programs/include/common'),
  ...['openbsd', 'netbsd', 'freebsd', 'linux'].map(name => join(ROOT, 'guest-programs/include', name)),
  '/usr/riscv64-linux-gnu/include', // of the C library
  folder,
];
/** The files with this path; the student's own ones have places in the kernel. */
function filesAt(lab: Lab, path: string): string[] {
  const own = lab.manifest.files.find(({ place }) => place !== undefined && `kernel/${place}` === path);
  const real = roots(lab).map(root => join(root, path));
  return [...(own ? [join(lab.folder, 'starter', own.name)] : []), ...real].filter(existsSync);
}

const PATH = /^(?:[\w.-]+\/)+[\w.-]*$/;
test.each(labs)('$name: paths', lab => {
  const paths = codeOf(lab).filter(code => PATH.test(code));
  expect(paths.filter(path => filesAt(lab, path).length === 0)).toEqual([]);
});

test.each(labs)('$name: a name that is said to be in a file is there', lab => {
  const said = [
    ...proseOf(lab).matchAll(/`(\w+)` in (?:the file )?`((?:[\w.-]+\/)+[\w.-]+\.\w+)`/g),
    ...[...proseOf(lab).matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.\w+)`, function `(\w+)`/g)].map(
      ([all, path, name]) => [all, name, path],
    ),
  ];
  const wrong = said.filter(
    ([, name, path]) =>
      !filesAt(lab, path!).some(file => new RegExp(`\\b${name}\\b`).test(readFileSync(file, 'utf8'))),
  );
  expect(wrong.map(([all]) => all)).toEqual([]);
});

/** Identifiers of the kernel, of programs, and of what the labs give. */
const words = new Set(
  execFileSync(
    'git',
    ['grep', '-howE', '\\w+_\\w+', '--', 'kernel', 'guest-programs/include', 'labs/*.c', 'labs/*.h'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    },
  ).split('\n'),
);
test.each(labs)('$name: identifiers', lab => {
  // A name that stands in code of its own, with arguments or without.
  const names = codeOf(lab).flatMap(code => /^\w+_\w+(?=$|\()/.exec(code)?.[0] ?? []);
  // Checks name functions that the student writes.
  const checks = JSON.stringify(lab.manifest.checks);
  const isDeclared = (name: string): boolean => words.has(name) || checks.includes(`function ${name}"`);
  expect(names.filter(name => !isDeclared(name))).toEqual([]);
});

const NUMBERS = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
test.each(labs)('$name: says how long it takes', lab => {
  const text = proseOf(lab);
  const [, minutes, hours, half] = /takes about (?:(\d+) minutes|(\w+)( and a half)? hours)/.exec(text) ?? [];
  const said = minutes ? Number(minutes) : NUMBERS.indexOf(hours!) * 60 + (half ? 30 : 0);
  expect(said).toBe(lab.manifest.minutes);
});

test.each(labs)('$name: names checks that there are', lab => {
  const ids = lab.manifest.checks.map(({ id }) => id);
  const named = [...wholeText(lab).matchAll(/--only ([a-z-]+)|failed\/([a-z-]+)\.kcapsule/g)];
  expect(named.map(([, only, failed]) => only ?? failed).filter(id => !ids.includes(id!))).toEqual([]);
});

test('the solution of the lab about copy-on-write is the kernel', () => {
  const own = readFileSync(join(openLab('4').folder, 'teacher/solution/cow.c'), 'utf8');
  expect(own).toBe(readFileSync(join(ROOT, 'kernel/mm/cow.c'), 'utf8'));
});
