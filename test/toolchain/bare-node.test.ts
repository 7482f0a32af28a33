// A fresh clone has no node_modules: the scripts that install them import nothing from there.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

/** Packages that loading the module needs, with the modules that import them. */
function packagesOf(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  const imports = [...text.matchAll(/^(?:import|export)\b[^;]*?(?:from )?'([^']+)';$/gm)].map(
    ([, name]) => name!,
  );
  return imports.flatMap(name => {
    if (name.startsWith('node:')) return [];
    if (!name.startsWith('.')) return [`${path.slice(ROOT.length + 1)} imports ${name}`];
    return packagesOf(join(dirname(path), name), seen);
  });
}

it.each(['start', 'test', 'check'])('npm run %s loads without node_modules', name => {
  const [, script] = /^node (setup\/\w+\.mjs)$/.exec(scripts[name]!) ?? [];
  expect(script).toBeDefined();
  expect(packagesOf(join(ROOT, script!))).toEqual([]);
});
