// Long doses of `kcovbox fuzz`: many more programs against the device's own report of records, and
// a campaign whose memory does not grow.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { Choice, campaignConfig, Generator, type Progress, Random, runCampaign } from '../../fuzz/index.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget, prepareTarget } from '../../host/fuzz/target.ts';
import { SCHEMAS } from '../../run/schemas.ts';
import { COMMAND, kcovbox } from '../support/command.ts';
import { otherNodeVersions } from '../support/nodes.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-slow-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const descriptions = loadDescriptions(descriptionTexts());

test('both engines give each program the same records', async () => {
  const seed = seedFromEnvironment(0x5eed_0002);
  const generator = new Generator(new Random(BigInt(seed)), new Choice(descriptions), []);
  const [a, b] = [
    openTarget(await prepareTarget({ engine: 'jit' })),
    openTarget(await prepareTarget({ engine: 'interp' })),
  ];
  for (let n = 0; n < 20_000; n++) {
    const program = generator.program();
    const mode = n % 2 ? 'cmp' : 'pc';
    const [x, y] = [a.execute(program, mode), b.execute(program, mode)];
    expect(x, `program ${n}, seed ${seedText(seed)}`).toEqual(y);
    const last = 2 + (x.calls.at(-1)?.end ?? 0) * (mode === 'pc' ? 2 : 8);
    if (
      Buffer.compare(Buffer.from(a.area.slice(2, last).buffer), Buffer.from(b.area.slice(2, last).buffer)) !==
      0
    )
      throw new Error(`other records of program ${n}, seed ${seedText(seed)}`);
  }
});

// A campaign comes to code that it had not come to: V8 takes 7 to 8 bytes for each byte of compiled
// code, which the code cache bounds. The heap has the corpus.
test('memory does not grow over a long campaign, but for its corpus and compiled code', async () => {
  const executor = openTarget(await prepareTarget());
  const config = campaignConfig.parse({ seed: '0x9' });
  const samples: { programs: number; heap: number; rest: number }[] = [];
  const epoch = ({ executions, corpus: programs }: Progress): void => {
    if (executions % 20_480 !== 0) return;
    collect();
    const { heapUsed: heap, rss } = process.memoryUsage();
    samples.push({ programs, heap, rest: rss - heap - 8 * executor.machine.jit!.usage.wasmBytes });
  };
  runCampaign({ config, descriptions, executor, executions: 204_800, epoch });
  expect(samples).toHaveLength(10);
  const [first, last] = [samples[0]!, samples.at(-1)!];
  expect(last.programs).toBeGreaterThan(first.programs);
  expect((last.heap - first.heap) / (last.programs - first.programs)).toBeLessThan(16_384);
  expect(last.rest / first.rest).toBeLessThan(1.1);
});

test('a campaign of 50,000 executions is repeated whole', () => {
  expect(kcovbox(['fuzz', 'run', '-n', '50000', 'c'], { cwd, timeout: 1_200_000 }).status).toBe(0);
  const verified = kcovbox(['fuzz', 'verify', '--sample', '10', '--engine', 'interp', 'c'], {
    cwd,
    timeout: 1_200_000,
  });
  expect(verified).toMatchObject({ status: 0, stdout: '5 epochs of 49 repeated: equal\n' });
});

const SMALL = ['fuzz', 'run', '-n', '2048', '-j', '2', '--seed', '5'];

test.each(otherNodeVersions())('a campaign has the same files on Node.js $major', ({ major, path }) => {
  rmSync(join(cwd, 'here'), { recursive: true, force: true });
  expect(kcovbox([...SMALL, 'here'], { cwd }).status).toBe(0);
  expect(spawnSync(path, [COMMAND, ...SMALL, `node${major}`], { cwd, input: '' }).status).toBe(0);
  const { status, stdout } = spawnSync('diff', ['-r', 'here', `node${major}`], { cwd, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});

test('a campaign of races is the same with 1, 2 and 8 workers, on every version of Node.js', () => {
  const words = ['fuzz', 'run', '--schedule', 'pos', '-n', '4096'];
  expect(kcovbox([...words, '-j', '1', 'races-1'], { cwd, timeout: 600_000 }).status).toBeLessThan(2);
  const journal = (name: string): string => readFileSync(join(cwd, name, 'epochs.jsonl'), 'utf8');
  for (const jobs of ['2', '8'])
    for (const { path, major } of [{ path: process.execPath, major: 0 }, ...otherNodeVersions()]) {
      const name = `races-${jobs}-${major}`;
      spawnSync(path, [COMMAND, ...words, '-j', jobs, name], { cwd, timeout: 600_000 });
      expect(journal(name) === journal('races-1'), name).toBe(true);
    }
});

test('verify names the epoch that differs, as JSON too', () => {
  expect(kcovbox([...SMALL, 'right'], { cwd }).status).toBe(0);
  cpSync(join(cwd, 'right'), join(cwd, 'wrong'), { recursive: true });
  const journal = join(cwd, 'wrong', 'epochs.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replace(/"units":\d+(?=[^\n]*\n$)/, '"units":7'));
  const verify = (campaign: string) =>
    SCHEMAS['fuzz-verification'].parse(
      JSON.parse(kcovbox(['fuzz', 'verify', '--sample', '100', '--json', campaign], { cwd }).stdout),
    );
  expect(verify('right')).toMatchObject({ epochs: 2, repeated: [0, 1], differs: null });
  expect(verify('wrong')).toMatchObject({ epochs: 2, repeated: [0], differs: { epoch: 1 } });
});

test('a campaign without a terminal says where it is', async () => {
  const words = [COMMAND, 'fuzz', 'run', '-n', '100000000', 'long'];
  const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  let said = '';
  child.stderr.on('data', chunk => {
    said += chunk;
    if (/executions/.test(said)) child.kill('SIGINT');
  });
  expect((await closed)[0]).toBe(130);
  expect(said).toMatch(
    /^(?:kcovbox: building .*\n)?kcovbox: \d+ executions, \d+\/s, \d+ covered, \d+ programs, 0 crashes\n$/,
  );
});
