// Which kernels the tests need: the four personalities, and what test files name with
// `prebuilt('CONF')`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const PERSONALITIES = ['openbsd', 'netbsd', 'freebsd', 'linux'];

/** Configurations of the tests of `npm test`; the slow ones build their own. */
export function testKernels() {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true }).filter(
    name => /\.ts$/.test(name) && !/\.slow\.test\.ts$/.test(name),
  );
  const named = files.flatMap(name =>
    [...readFileSync(join(ROOT, 'test', name), 'utf8').matchAll(/\bprebuilt\('([a-z+-]+)'\)/g)].map(
      ([, conf]) => conf,
    ),
  );
  return [...new Set([...PERSONALITIES, ...named])];
}
