// A long campaign: node --import tsx test/devices/hostile/main.ts DRIVER FIRST_SEED RUNS
import { runSetup, SETUPS } from './campaigns.ts';

const [name = '', first = '1', runs = '1000'] = process.argv.slice(2);
if (!Object.hasOwn(SETUPS, name)) {
  console.error(`drivers: ${Object.keys(SETUPS).join(', ')}`);
  process.exit(2);
}
const { counts, finds } = await runSetup(name, Number(first), Number(runs));
const { user, system } = process.cpuUsage();
console.log(name, JSON.stringify(counts), `${((user + system) / 1e6).toFixed(1)} CPU s`);
for (const find of finds) console.log(JSON.stringify(find));
process.exitCode = finds.length > 0 ? 1 : 0;
