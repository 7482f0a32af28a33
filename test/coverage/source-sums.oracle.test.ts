/** The sums of sources in DWARF 5: a report shows no text that was edited after the build. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceSums, writeTrace } from '../../coverage/index.ts';
import { kcovbox } from '../support/command.ts';
import { buildFixture, bytesOf, FIXTURES, fixture, fixtureTrace, missing, scratch } from './support.ts';

const reason = missing('sums of sources', 'clang-19', 'ld.lld-19');

it.skipIf(reason)('are those of the files', () => {
  const sums = [...sourceSums(fixture({ dwarf: 5 }))];
  expect(sums.map(([path]) => path).sort()).toEqual(
    readdirSync(FIXTURES)
      .filter(name => /^(hooks|lookup|main|parse|util)\.[ch]$/.test(name))
      .sort(),
  );
  for (const [path, known] of sums) {
    const bytes = readFileSync(join(FIXTURES, path));
    expect([...known]).toEqual([createHash('md5').update(bytes).digest('hex')]);
  }
  expect(sourceSums(fixture({ dwarf: 4 })).size).toBe(0);
});

it.skipIf(reason)('keep the text of an edited source out of reports', () => {
  const dir = scratch();
  const image = buildFixture({ dwarf: 5 });
  writeFileSync(join(dir, 'sums.kcov'), bytesOf(writeTrace(fixtureTrace(fixture({ dwarf: 5 })))));
  cpSync(FIXTURES, join(dir, 'edited'), { recursive: true });
  appendFileSync(join(dir, 'edited', 'parse.c'), '\n');
  const report = (...folders: string[]) => {
    const sources = folders.flatMap(folder => ['-S', folder]);
    return kcovbox(['cov', 'report', '--by', 'source', '-k', image, ...sources, 'sums.kcov'], { cwd: dir });
  };
  const before = report(FIXTURES);
  expect(before).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('int digit') });
  const after = report('edited');
  expect(after.stderr).toMatch(/^kcovbox: parse\.c has changed since the image was built: [^\n]+\n$/);
  expect(after.stdout).toContain('parse.c  (source not found)\n');
  expect(after.stdout).toContain('switch (key)'); // the other files are as they were
  expect(report('edited', FIXTURES)).toEqual(before);
  // A report would wait for a pipe, and a device never ends.
  mkdirSync(join(dir, 'odd', 'util.c'), { recursive: true });
  execFileSync('mkfifo', [join(dir, 'odd', 'parse.c')]);
  symlinkSync('/dev/zero', join(dir, 'odd', 'main.c'));
  expect(report('odd', FIXTURES)).toEqual(before);
});
