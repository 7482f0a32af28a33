// Runs a program in the guest, records what it covers of the kernel, and runs it again.
// Usage: node node.mjs [program.c|program.elf]
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { replay, run } from 'kcovbox/node';

const installed = dirname(createRequire(import.meta.url).resolve('kcovbox/package.json'));
const program = process.argv[2] ?? join(installed, 'guest-programs', 'openbsd-kcov.c');

// `cover` is for a program that uses kcov itself; any other C program takes `trace: true`.
const first = await run(program, { cover: true, maxInsns: 1e9 });
console.log(`${first.end} ${first.status}, ${first.text.split('\n').length - 1} lines of output`);

const { lines, points } = first.coverage().totals();
console.log(
  `${first.trace.count} records cover ${points.covered} points, ${lines.covered} lines of the kernel`,
);

// Files for the command line, for kcovbox/coverage, and for people.
writeFileSync('run.kcov', first.trace.bytes());
writeFileSync('run.html', first.coverage().export('html', first.exportOptions));
console.log(`kernel ${first.kernelPath}`);

// The same run again: every instruction, every byte of output.
const second = await replay(first.capsule());
console.log(second.differences.length === 0 ? 'the replay is the same run' : second.differences.join('; '));

// A program that does not compile is the one error that is its author's.
writeFileSync('broken.c', 'int main(void) { return x; }\n');
try {
  await run('broken.c');
} catch (error) {
  console.log(`${error.name}, ${error.kind}: ${error.message}`);
}
