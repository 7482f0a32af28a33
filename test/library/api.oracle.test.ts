// docs/api/ is what TypeDoc makes of the docstrings, and every exported function and member has
// one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const ENTRIES = ['emulator', 'coverage', 'node', 'fuzz', 'device'];

// In a process of its own: the loader's hook that it needs would stay.
const SCRIPT = `import { apiPages } from ${JSON.stringify(join(ROOT, 'setup', 'api.mjs'))};
  process.stdout.write(JSON.stringify(await apiPages()));`;

it('is fresh: node setup/api.mjs writes it', () => {
  const args = ['--input-type=module', '-e', SCRIPT];
  const pages = JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })) as {
    name: string;
    text: string;
  }[];
  expect(pages.map(({ name }) => name)).toEqual(ENTRIES);
  for (const { name, text } of pages)
    expect(readFileSync(join(ROOT, 'docs', 'api', `${name}.md`), 'utf8')).toBe(text);
});

it('says something of every function, class and accessor', () => {
  for (const name of ENTRIES) {
    const text = readFileSync(join(ROOT, 'docs', 'api', `${name}.md`), 'utf8');
    // A signature that a heading or a rule follows has no words of its own.
    const bare = [...text.matchAll(/^#{3,5} (\S+)\n\n```ts\n[^`]*```\n\n(?=#|\*\*\*)/gm)]
      .map(([, what]) => what!)
      .filter(what => what !== 'Constructor');
    expect(bare, name).toEqual([]);
  }
});
