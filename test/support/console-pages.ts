// The pages whose console blocks setup/readme.mjs runs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './command.ts';

const SCRIPT = join(ROOT, 'setup', 'readme.mjs');
const readme = (...words: string[]) => spawnSync(process.execPath, [SCRIPT, ...words], { encoding: 'utf8' });

/** `isSlow`: some of its blocks take minutes. */
export const CONSOLE_PAGES = readme('--list')
  .stdout.trim()
  .split('\n')
  .map(line => ({ page: line.split(' ')[0]!, isSlow: line.endsWith(' slow') }));

/** Runs the blocks of a page; with `--slow` also those that take minutes. */
export function checkPage(page: string, ...options: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = readme(page, ...options);
  return { status, stderr };
}
