// docs/library.md quotes the examples of examples/library/, which tests run. UPDATE_DOCS=1 renews
// the quotes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const PAGE = join(ROOT, 'docs', 'library.md');

it('the page shows the examples as they are', () => {
  const page = readFileSync(PAGE, 'utf8');
  const shown: string[] = [];
  const fresh = page.replace(/```js\n([\s\S]*?)```/g, (block, text: string) => {
    const [, entry] = /from 'kcovbox\/(\w+)'/.exec(text) ?? [];
    if (entry === undefined) return block;
    const [, name = entry] = /^\/\/ .*Usage: node (\w+)\.mjs/m.exec(text) ?? [];
    shown.push(name);
    return `\`\`\`js\n${readFileSync(join(ROOT, 'examples', 'library', `${name}.mjs`), 'utf8')}\`\`\``;
  });
  if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, fresh);
  else expect(page).toBe(fresh);
  expect(shown.sort()).toEqual(['coverage', 'emulator', 'node', 'why']);
});
