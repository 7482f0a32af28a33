// The options of the kernel as kernel/opt/*/option describes them, and kernels of the core with one
// of them.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const KERNEL = join(ROOT, 'kernel');
export const OPT = join(KERNEL, 'opt');

export interface Option {
  readonly folder: string;
  readonly name: string;
  readonly subject: string;
  readonly needs: readonly string[];
}

function readOption(folder: string): Option {
  const text = readFileSync(join(OPT, folder, 'option'), 'utf8');
  const [, subject, name, needs = ''] =
    /^# (.+)\.\noption ([A-Z0-9_]+)(?: off)?\n(?:needs ([A-Z0-9_ ]+)\n)?$/.exec(text) ?? [];
  if (!subject || !name) throw new Error(`kernel/opt/${folder}/option: ${JSON.stringify(text)}`);
  return { folder, name, subject, needs: needs.split(' ').filter(Boolean) };
}
export const options = readdirSync(OPT).sort().map(readOption);

/** The option and all that it needs, each once. */
function withNeeds(name: string, all = new Set<string>()): Set<string> {
  all.add(name);
  for (const need of options.find(option => option.name === name)!.needs)
    if (!all.has(need)) withNeeds(need, all);
  return all;
}

/**
 * Tests that the core with each of these options, and what it needs, builds without a warning and
 * boots to examples/hello.c.
 */
export function testsAlone(names: readonly string[], dialects: readonly Dialect[]): void {
  const ready = hasGlibc() && findTool('clang') !== undefined;
  if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

  describe.skipIf(!ready)('the core with one option and its needs', () => {
    let folder: string;
    let tree: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'options-'));
      tree = join(folder, 'kernel');
      cpSync(KERNEL, tree, { recursive: true });
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    for (const name of names)
      for (const dialect of dialects)
        it(`${dialect}: ${name}`, () => {
          const fragment = [...withNeeds(name)].map(each => `options ${each}\n`).join('');
          writeFileSync(join(tree, 'conf/alone'), fragment);
          const { stdout, stderr, status } = spawnSync(
            process.execPath,
            [
              join(ROOT, 'bin/kcovbox.cjs'),
              'run',
              '--kernel-source',
              tree,
              '--conf',
              `${dialect}+teach+alone`,
              join(ROOT, 'examples/hello.c'),
            ],
            { cwd: folder, encoding: 'utf8' },
          );
          expect(status, stderr).toBe(0);
          expect(stdout).toMatch(/^hello\b.*\n$/);
        }, 180_000);
  });
}
