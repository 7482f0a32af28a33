// A format of counts takes only the numbers of records (RecorderOptions.countsOnly), HTML takes the
// calls that differ (foldsCalls), raw no calls (withoutCalls), a trace takes each record. All ways
// end in the same file: for every dialect, kind of record, changed or full buffer, remote sections
// and several harts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIALECTS } from '../../toolchain/index.ts';
import { kcovboxLines, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-counts-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const guest = (path: string): string => join(ROOT, 'guest-programs', path);

/**
 * Records of a thread that changes its buffer: the count to and fro, a record, or nothing. Way 5
 * empties it and makes as many records again, in one of its rounds, as the device knew before.
 */
const MEDDLE = `#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
static int fd;
static unsigned long mode;
static volatile unsigned long *area;
static void enable(void)
{
    ioctl(fd, _IO('c', 100), mode);
}
static void disable(void)
{
    ioctl(fd, _IO('c', 101), 0);
}
static void as_many_again(unsigned long count)
{
    disable();
    area[0] = 0;
    enable();
    area[0] = count;
    getppid();
    area[0] = 0;
    for (int i = 0; i < 3; i++)
        getppid();
    disable();
    enable();
}
int main(int argc, char **argv)
{
    unsigned long what = atol(argv[2]), words = 2048;
    mode = atol(argv[1]);
    fd = open("/sys/kernel/debug/kcov", O_RDWR);
    if (ioctl(fd, _IOR('c', 1, unsigned long), words))
        return 1;
    area = mmap(0, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ioctl(fd, _IO('c', 100), mode))
        return 2;
    for (int i = 0; i < 3000; i++) {
        char c;
        if (what == 5) {
            as_many_again(10 + i % 300);
            continue;
        }
        read(-1, &c, 1);
        getppid();
        if (what == 0 || i % (what == 4 ? 200 : 7) == 0)
            area[0] = 0;
        else if (what == 1)
            area[0] -= 3;
        else if (what == 2)
            area[area[0] * (mode ? 4 : 1)] ^= 0x100;
        else if (what == 3)
            area[0] = words - 20;
    }
    disable();
    return 0;
}
`;

const stress = (dialect: string, ...more: string[]): string[] => [
  ...['--dialect', dialect, '--smp', '4'],
  guest(`kcov-conformance/${dialect}-stress.c`),
  ...['--', '3000', '7', '8', ...more],
];

const RUNS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    DIALECTS.flatMap(dialect => [
      [`${dialect} conformance`, ['--dialect', dialect, guest(`kcov-conformance/${dialect}.c`)]],
      [`${dialect} stress`, stress(dialect)],
      [`${dialect} trace`, ['--dialect', dialect, '--trace', join(ROOT, 'examples/hello.c')]],
    ]),
  ),
  'openbsd remote stress': stress('openbsd', 'remote'),
  'linux remote': ['--dialect', 'linux', guest('linux-remote-kcov.c')],
  ...Object.fromEntries(
    ['0', '1'].flatMap(mode =>
      ['0', '1', '2', '3', '4', '5'].map(what => [
        `a buffer changed in way ${what}, mode ${mode}`,
        ['--dialect', 'linux', 'meddle.c', mode, what],
      ]),
    ),
  ),
  // The host's memory for records begins beyond 2^31.
  'much memory': ['-m', '2G', '--dialect', 'linux', 'meddle.c', '1', '0'],
  'a buffer changed in way 2, interpreted': [
    '--engine',
    'interp',
    '--dialect',
    'linux',
    'meddle.c',
    '0',
    '2',
  ],
};

const FORMATS = ['json', 'jsonl', 'lcov', 'cobertura', 'drcov', 'rawcover', 'modoff', 'raw', 'html'];
/** All formats of two runs, some of all others. */
function formatsOf(name: string): readonly string[] {
  if (name === 'linux trace' || name === 'a buffer changed in way 3, mode 0') return FORMATS;
  return name.endsWith('mode 1') ? ['json', 'raw', 'html'] : ['json', 'html'];
}

const fileOf = (name: string, suffix: string): string => `${name.replaceAll(/[^a-z0-9]+/g, '-')}.${suffix}`;
const read = (name: string): string => readFileSync(join(cwd, name), 'latin1');
/** `run` calls a page like the program. */
const titleOf = (words: readonly string[]): string =>
  basename(words.find(word => word.endsWith('.c'))!, '.c');
/** `run` knows where the sources of its kernel are. */
const ROOTED: readonly string[] = ['lcov', 'cobertura'];

beforeAll(() => {
  writeFileSync(join(cwd, 'meddle.c'), MEDDLE);
  const lines = Object.entries(RUNS).flatMap(([name, words]) => {
    const trace = fileOf(name, 'kcov');
    return [
      ['run', '--cover', trace, ...words],
      ...formatsOf(name).flatMap(format => [
        ['run', '--cover', fileOf(name, format), '--format', format, ...words],
        [
          ...['cov', 'export', '--format', format, '-o', fileOf(name, `${format}.expected`), trace],
          ...(ROOTED.includes(format) ? ['--source-root', ROOT] : []),
          ...(format === 'html' ? ['--title', titleOf(words)] : []),
        ],
      ]),
    ];
  });
  const ran = kcovboxLines(lines, { cwd, timeout: 500_000 });
  for (const [i, { status, stderr }] of ran.entries())
    expect(status, `${lines[i]!.join(' ')}: ${stderr}`).toBe(0);
}, 600_000);

test.each(Object.keys(RUNS))('%s', name => {
  for (const format of formatsOf(name)) {
    const expected = read(fileOf(name, `${format}.expected`));
    expect(expected.length).toBeGreaterThan(100);
    expect(read(fileOf(name, format)) === expected, format).toBe(true);
  }
});

test('what the runs have in them: records, lost ones, and findings', () => {
  const report = (name: string) =>
    JSON.parse(read(fileOf(name, 'json'))) as { records: number; lost: number; findings: string[] };
  expect(report('a buffer changed in way 0, mode 0')).toMatchObject({ lost: 0, findings: [] });
  expect(report('a buffer changed in way 0, mode 1').records).toBeGreaterThan(10_000);
  for (const mode of ['0', '1'])
    expect(report(`a buffer changed in way 5, mode ${mode}`)).toMatchObject({ lost: 0, findings: [] });
  expect(report('a buffer changed in way 1, mode 0').findings[0]).toContain('without a reset');
  expect(report('a buffer changed in way 2, mode 1').findings[0]).toContain('was changed in guest memory');
  expect(report('a buffer changed in way 3, mode 1').lost).toBeGreaterThan(1000);
  expect(report('a buffer changed in way 4, mode 0').lost).toBeGreaterThan(0);
});
