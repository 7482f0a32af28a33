// The search on the command line: node --import tsx test/devices/search/main.ts [SEED [PROGRAMS]]
import { Search } from './search.ts';

const [seed = 'de71', programs = '10000'] = process.argv.slice(2);
const start = process.hrtime.bigint();
const {
  report,
  actions,
  costs,
  programs: done,
} = new Search().run(Number.parseInt(seed, 16), Number(programs));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(
  `seed ${seed}: ${done} programs, ${actions} actions, ${seconds.toFixed(1)} s; dearest action: ${JSON.stringify(costs)}`,
);
if (report) console.log(report);
