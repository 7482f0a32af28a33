// docs/library.md quotes the examples of examples/library/, which tests run. UPDATE_DOCS=1 renews
// the quotes.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

it('the bench of docs/drivers.md prints what its comment says', () => {
  const page = readFileSync(join(ROOT, 'docs', 'drivers.md'), 'utf8');
  const [, text] = /```js\n(import { DeviceBench }[\s\S]*?)```/.exec(page)!;
  const folder = mkdtempSync(join(tmpdir(), 'kcovbox-bench-'));
  try {
    copyFileSync(join(ROOT, 'examples', 'device', 'summer.ts'), join(folder, 'summer.ts'));
    const map = { compilerOptions: { paths: { 'kcovbox/device': [join(ROOT, 'library', 'device.ts')] } } };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(map));
    writeFileSync(join(folder, 'bench.ts'), text!);
    const tsx = join(ROOT, 'node_modules', '.bin', 'tsx');
    const { stdout, stderr } = spawnSync(tsx, ['bench.ts'], { cwd: folder, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'true 42\n', stderr: '' });
    expect(text).toContain('// true 42\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

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
  const all = readdirSync(join(ROOT, 'examples', 'library')).map(name => name.replace('.mjs', ''));
  expect(shown.sort()).toEqual(all.sort());
});
