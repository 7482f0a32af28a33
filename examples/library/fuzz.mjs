// A fuzzer of your own, with a call that you describe. Usage: node fuzz.mjs
import { writeFileSync } from 'node:fs';
import { measure } from 'kcovbox/coverage';
import { fuzzTarget } from 'kcovbox/node';

// Descriptions of your own stand behind those of the package.
writeFileSync('own.kd', 'call read$small(fd: fd, buffer: out bytes[1:8], size: len64 buffer)\n');
const target = await fuzzTarget({ describe: ['own.kd'] });
const { descriptions } = target;

// Programs that run a point which none before has run are kept, and changed again.
const generator = descriptions.generator({ seed: 7n, calls: ['openat*', 'pipe2', 'write', 'read$small'] });
const corpus = [];
const points = new Set();
for (let n = 0; n < 500; n++) {
  const isNew = corpus.length === 0 || n % 4 === 0;
  const program = isNew ? generator.program() : generator.mutate(corpus[n % corpus.length], corpus);
  const { calls, crash } = target.execute(program);
  if (crash) console.log(`${crash}:\n${program.text}`);
  const pcs = calls.flatMap(call => [...call.pcs]);
  if (pcs.some(pc => !points.has(pc))) corpus.push(program);
  for (const pc of pcs) points.add(pc);
}
console.log(`${corpus.length} programs run ${points.size} points`);

// As few calls as run the same last point, with what they return.
const last = target.execute(corpus.at(-1)).calls.at(-1).pcs.at(-1);
const small = corpus
  .at(-1)
  .minimize(candidate => target.execute(candidate).calls.some(({ pcs }) => pcs.includes(last)));
const [{ function: name }] = target.image.symbolize(last);
const { calls } = target.execute(small);
console.log(`${small.text.trimEnd()}\nreturns ${calls.map(call => call.value).join(', ')}, ends in ${name}`);

// The comparisons of the kernel: their operands are values for a dictionary, or for arguments.
const compared = target.execute(small, { record: 'cmp' }).calls.flatMap(call => call.comparisons);
console.log(
  `${compared.length} comparisons, ${compared.filter(({ isConst }) => isConst).length} with constants`,
);

// The corpus as a trace, which `measure` and the reports of kcovbox/coverage take.
const { lines } = measure(target.trace(corpus), target.image).totals();
console.log(`${lines.covered} lines of the kernel`);
writeFileSync('small.c', small.c());

// Or a campaign of `kcovbox fuzz run`: the same corpus on any machine.
const { edges, programs, finds } = await target.campaign({ executions: 2048, seed: 5n });
console.log(`${edges} edges, ${programs} programs, ${finds.length} crashes`);
