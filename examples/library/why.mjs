// Finds the instruction after which a race was lost. Usage: node why.mjs [program.c|program.elf]
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run, why } from 'kcovbox/node';

const installed = dirname(createRequire(import.meta.url).resolve('kcovbox/package.json'));
const program = process.argv[2] ?? join(installed, 'examples', 'lost.c');

// One schedule in seven loses a payment.
let failing;
for (let schedSeed = 1n; schedSeed < 100n && failing === undefined; schedSeed++) {
  const one = await run(program, { harts: 2, schedSeed });
  if (one.status !== 0) failing = one;
}

// Runs of the same beginning under other schedules: from where on do nearly all fail?
const { failure, answer, decision } = await why(failing.capsule(), { forks: 20 });
console.log(`${failure}: ${answer}`);
const { before, after, failing: side } = decision;
console.log(`unit ${before.unit}: ${before.fails} of ${before.forks} forks fail`);
console.log(`unit ${after.unit}: ${after.fails} of ${after.forks} forks fail`);
console.log(`hart ${side.from} stops in ${side.stops.map(call => call.function).join(', ')}`);
