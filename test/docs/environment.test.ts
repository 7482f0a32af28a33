// docs/environment.md lists the environment variables that the sources read: all of them and no
// others.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

/** Read by a library for us: picocolors. */
const OF_LIBRARIES = ['NO_COLOR'];

const sources = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs', '*.cjs'],
  { cwd: ROOT, encoding: 'utf8' },
)
  .split('\n')
  .filter(path => path !== '' && existsSync(join(ROOT, path)));

/** Also those of options, which commander reads. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/process\.env(?:\.(\w+)|\[\s*['"`](\w+)['"`]\s*\])|\.env\('(\w+)'\)/g)].map(
    ([, dotted, quoted, option]) => (dotted ?? quoted ?? option)!,
  );

it('docs/environment.md lists exactly the variables that the sources read', () => {
  const read = new Set(sources.flatMap(path => namesIn(readFileSync(join(ROOT, path), 'utf8'))));
  for (const name of OF_LIBRARIES) read.add(name);
  const page = readFileSync(join(ROOT, 'docs', 'environment.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
  expect(listed.sort()).toEqual([...read].sort());
});

it('the search knows all spellings', () => {
  expect(namesIn("env.A + env['B'] + env[name]".replaceAll('env', 'process.env'))).toEqual(['A', 'B']);
  expect(namesIn(['new Option(x)', "env('C')"].join('.'))).toEqual(['C']);
});
