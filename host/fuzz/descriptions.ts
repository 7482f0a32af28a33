// The descriptions of the package, and those of the user, from files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDescriptions, type Source } from '../../fuzz/language/parse.ts';
import { parseSyscalls } from '../../fuzz/language/syscalls.ts';
import type { Descriptions } from '../../fuzz/language/types.ts';
import { packageRoot } from '../../toolchain/index.ts';
import { readInput } from '../input.ts';

/** In the order in which they need one another. */
const FILES = ['files', 'processes', 'memory', 'events', 'sockets'];

/** The kernel's tables of system calls: of the core, and of its options. */
function tables(): string[] {
  const kernel = join(packageRoot(), 'kernel');
  const options = join(kernel, 'opt');
  const all = [join(kernel, 'syscall', 'syscalls.def')];
  for (const option of readdirSync(options).sort())
    if (readdirSync(join(options, option)).includes('syscalls.def'))
      all.push(join(options, option, 'syscalls.def'));
  return all.map(path => readFileSync(path, 'utf8'));
}

/** The texts of all descriptions; `more`: paths of further ones. */
export function descriptionSources(more: readonly string[] = []): Source[] {
  const own = FILES.map(name => join(packageRoot(), 'fuzz', 'descriptions', `${name}.kd`));
  return [...own, ...more].map(path => ({
    name: path.replace(/.*\//, ''),
    text: new TextDecoder().decode(readInput(path, 'description')),
  }));
}

/** Errors: FuzzError with file and line. */
export const loadDescriptions = (sources: readonly Source[]): Descriptions =>
  parseDescriptions(parseSyscalls(tables()), sources);
