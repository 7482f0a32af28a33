// The library as a user installs it: what the package says of its entries is true for each kind of
// consumer, and the examples of docs/library.md do what the page shows, on every supported Node.js
// and in a browser.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { ROOT } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';
import { installPacked } from '../support/packed.ts';
import { missing } from '../support/tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-library-'));
const EXAMPLES = join(ROOT, 'examples', 'library');
const DEVICE = join(ROOT, 'examples', 'device');
const ENTRIES = ['emulator', 'coverage', 'node', 'fuzz', 'device'] as const;
let app = '';
let tarball = '';

beforeAll(() => {
  ({ app, tarball } = installPacked(dir));
  for (const name of readdirSync(EXAMPLES)) copyFileSync(join(EXAMPLES, name), join(app, name));
}, 600_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Runs a script in the folder of the installed package; its output, or what went wrong. */
function node(path: string, args: readonly string[], major = 0): string {
  const home = join(dir, `home-${major}`);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
  const { status, stdout, stderr } = spawnSync(path, args, { cwd: app, encoding: 'utf8', env });
  return status === 0 && stderr === '' ? stdout : `status ${status}\n${stdout}${stderr}`;
}

describe('the package', () => {
  test('publint has nothing to say', async () => {
    const pack = { tarball: new Uint8Array(readFileSync(tarball)).buffer };
    const { messages, pkg } = await publint({ pack, strict: true });
    expect(messages.map(message => formatMessage(message, pkg))).toEqual([]);
  });

  test('the types are right for each kind of consumer', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
    if (!analysis.types) throw new Error('the package has no types');
    const entries = Object.entries(analysis.entrypoints).filter(([name]) => name !== './package.json');
    expect(entries.map(([name]) => name).sort()).toEqual(ENTRIES.map(name => `./${name}`).sort());
    // The resolution of before Node 12 knows no "exports"; nothing that runs on Node 20 needs it.
    const problems = analysis.problems.filter(
      problem => !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    );
    expect(problems).toEqual([]);
  });

  /** Types that a project may have besides those of the language. */
  const SURROUNDINGS = {
    dom: { lib: ['es2023', 'dom'], types: [] },
    node: { lib: ['es2022'], types: ['node'] },
    none: { lib: ['es2022'], types: [] },
  } as const;
  type Surroundings = keyof typeof SURROUNDINGS;

  test.each<[string, Surroundings]>([
    ['module', 'dom'],
    ['commonjs', 'node'],
    ['module', 'none'],
  ])('a strict %s with the types of %s compiles', (type, surroundings) => {
    const folder = join(app, `types-${type}-${surroundings}`);
    const signal = `const stop = new AbortController();
export const stopped = run('a.c', { signal: stop.signal });
run('a.c', { signal: AbortSignal.timeout(1000) });
`;
    const more =
      surroundings === 'none' ? 'declare const console: { log(...all: unknown[]): void };' : signal;
    const source = `${more}
import { Machine, KcovboxError, type Device } from 'kcovbox/emulator';
import { measure, readTrace, Image, type Coverage } from 'kcovbox/coverage';
import { run, replay, why, fuzzTarget, type Run, type Why } from 'kcovbox/node';
import { parseDescriptions, type Campaign, type Program, type Type } from 'kcovbox/fuzz';
import { DeviceBench } from 'kcovbox/device';
import summer from './summer.js';
const bench = new DeviceBench(summer, { params: { latency: '1' } });
bench.write(0x10, bench.read(0) satisfies number);
const device: Device = { name: 'd', read: () => 1, write() {}, reset() {}, save: () => 0, load() {} };
const machine = new Machine({ kernel: new Uint8Array(4), devices: [{ base: 0x5000000, size: 4096, create: () => device }] });
const reason = machine.run(1000);
if (reason.kind === 'exit') console.log(reason.status.toFixed());
export async function f(): Promise<Coverage> {
  const one: Run = await run('a.c', { cover: true, env: { A: 'b' } });
  const { differences } = await replay(one.capsule());
  console.log(differences.join(), (await one.result()).outcome.end);
  const { decision }: Why = await why(one.capsule(), { failure: { console: /lost/ }, forks: 10 });
  console.log(decision?.failing?.stops[0]?.line.toFixed());
  const target = await fuzzTarget({ conf: 'linux', threads: true });
  const { corpus, log }: Campaign = await target.campaign({ executions: 8, seed: 5n });
  const programs: Program[] = corpus.map(({ program }) => program);
  console.log(log[0]?.edges, target.execute(programs[0]!).calls[0]?.value satisfies bigint | undefined);
  const types: Type[] = parseDescriptions([], 'SYSCALL(57, close, 1)').calls.flatMap(call => call.args.map(arg => arg.type));
  console.log(types.length, measure(target.trace(programs), target.image).totals().lines.covered);
  return measure(readTrace(one.trace!.bytes()), new Image(new Uint8Array(1)));
}
// @ts-expect-error: no such option
new Machine({ kernel: new Uint8Array(4), ram: 3 });
console.log(new KcovboxError('input', 'x').kind satisfies string);
`;
    const config = {
      compilerOptions: {
        target: 'es2023',
        ...SURROUNDINGS[surroundings],
        typeRoots: [join(ROOT, 'node_modules', '@types')],
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
      },
      files: ['a.ts', 'summer.ts'],
    };
    spawnSync('mkdir', [folder]);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'a.ts'), source);
    copyFileSync(join(DEVICE, 'summer.ts'), join(folder, 'summer.ts'));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  test('what is for browsers names nothing of Node', () => {
    const dist = join(app, 'node_modules', 'kcovbox', 'dist');
    const seen = new Set<string>();
    const visit = (path: string): void => {
      if (seen.has(path)) return;
      seen.add(path);
      const text = readFileSync(path, 'utf8');
      for (const [, name] of text.matchAll(/(?:from\s*|require\(|import\()"([^"]+)"/g)) {
        expect(name, path).toMatch(/^\.\//);
        visit(join(path, '..', name!));
      }
      expect(text, path).not.toMatch(/\bimport\.meta\b|__dirname|__filename|\bprocess\.(env|cwd|exit|on)\b/);
    };
    for (const entry of ['emulator', 'coverage', 'fuzz', 'device'])
      for (const [folder, ending] of [
        ['esm', 'mjs'],
        ['cjs', 'cjs'],
      ] as const)
        visit(join(dist, folder, `${entry}.${ending}`));
    expect(seen.size).toBeGreaterThan(6);
  });
});

const PROGRAMS = [
  '57 close: resource -> number',
  '56 openat: const, pointer, flags -> fd',
  '59 pipe2: pointer, const -> number',
  '63 read: resource, pointer, len -> number',
  'pipe2(&{0x0, >r0}, 0x0)',
  'read(r0, &out[25], 0x19)',
  'openat(0xffffff9c, &"d\\x00", 0x40)',
  'changed:',
  'pipe2(&{0x0, 0x0}, 0x0)',
  'read(0x0, &out[25], 0x19)',
  'openat(0xffffff9c, &"d\\x00", 0x40)',
  'with a close: close(0xffffffff)',
  'in C: call(63, r[0], 0x20000010, 0x8, 0x0, 0x0, 0x0)',
  '',
].join('\n');

/**
 * The output of each example; `node` in a cache without a compiler's products has no path of its
 * own.
 */
const HELLO = [
  'after 26 instructions: hello',
  'exit 1 after ", world", a1 = 78643',
  'exit 1 after ", world", a1 = 78643',
  'the same state twice',
  '',
].join('\n');

test('why.mjs: an example that travels compiled, and its race', () => {
  expect(node(process.execPath, ['why.mjs']).split('\n')).toEqual([
    expect.stringMatching(/^exit status 1: (decided|gradual)$/),
    expect.stringMatching(/^unit \d+: \d+ of 20 forks fail$/),
    expect.stringMatching(/^unit \d+: \d+ of 20 forks fail$/),
    expect.stringMatching(/^hart [01] stops in (pay, )?teller, start_thread, /),
    '',
  ]);
});

/** Outputs of fuzz.mjs on the versions of Node.js so far. */
const fuzzed = new Set<string>();

describe.each(nodeVersions())('on Node.js $major', ({ major, path }) => {
  test('emulator.mjs', () => expect(node(path, ['emulator.mjs'], major)).toBe(HELLO));

  test('programs.mjs', () => expect(node(path, ['programs.mjs'], major)).toBe(PROGRAMS));

  test('fuzz.mjs: the same on each', () => {
    const said = node(path, ['fuzz.mjs'], major);
    expect(fuzzed.add(said).size).toBe(1);
    expect(said.split('\n')).toEqual([
      expect.stringMatching(/^\d\d programs run \d\d\d points$/),
      expect.stringMatching(/^\w+.*\(.*\)$/),
      expect.stringMatching(/^returns .*, ends in \w+$/),
      expect.stringMatching(/^\d+ comparisons, \d+ with constants$/),
      expect.stringMatching(/^\d{4} lines of the kernel$/),
      expect.stringMatching(/^\d{4} edges, \d{3} programs, 0 crashes$/),
      '',
    ]);
  });

  test('node.mjs, and coverage.mjs with what it leaves', () => {
    const said = node(path, ['node.mjs'], major);
    expect(said.split('\n').filter(line => !line.startsWith('kernel '))).toEqual([
      'exit 0, 17 lines of output',
      expect.stringMatching(/^\d\d records cover \d\d points, \d\d\d lines of the kernel$/),
      'the replay is the same run',
      'KcovboxError, compile: broken.c does not compile',
      '',
    ]);
    const [, kernel] = /^kernel (.*)$/m.exec(said)!;
    const covered = node(path, ['coverage.mjs', 'run.kcov', kernel!], major);
    expect(covered).toMatch(/^openbsd, tests openbsd-kcov: \d\d records at \d\d PCs\n {2}\w+ \S+\.c:\d+\n/);
    expect(covered).toMatch(/points in both, \d+ in the whole trace alone\n$/);
    expect(readFileSync(join(app, 'run.info'), 'utf8')).toMatch(/^TN:openbsd_kcov\nSF:/);
    expect(readFileSync(join(app, 'run.html'), 'utf8')).toContain('syscall_dispatch');
  });

  test('coverage.mjs takes a trace without records', () => {
    const empty = `import { readFileSync, writeFileSync } from 'node:fs';
      import { readTrace } from 'kcovbox/coverage';
      const trace = readTrace(readFileSync('run.kcov'));
      writeFileSync('empty.kcov', trace.filter({ test: 'no such test' }).bytes());
      import { buildKernel } from 'kcovbox/node';
      console.log((await buildKernel('openbsd')).path);`;
    writeFileSync(join(app, 'empty.mjs'), empty);
    const kernel = node(path, ['empty.mjs'], major).trim();
    expect(node(path, ['coverage.mjs', 'empty.kcov', kernel], major)).toMatch(
      /^openbsd, tests : 0 records at 0 PCs\n( {2}\w+: 0 of \d+\n){3}0 points in both, 0 in the whole trace/,
    );
  });

  test('--device takes TypeScript without another package; a bench tests it', () => {
    const kcovbox = join('node_modules', 'kcovbox', 'bin', 'kcovbox.cjs');
    const program = join('node_modules', 'kcovbox', 'guest-programs', 'openbsd-kcov.c');
    copyFileSync(join(DEVICE, 'summer.ts'), join(app, 'summer.ts'));
    expect(node(path, [kcovbox, 'dev', 'header', 'summer.ts'], major)).toContain('#define SUMMER_SUM 0x18');
    const run = ['run', '--device', 'summer.ts,latency=9', '--fault', 'summer:late@1=1us', program];
    expect(node(path, [kcovbox, ...run], major)).toMatch(/^(.*\n){17}$/);
    writeFileSync(
      join(app, 'bench.mjs'),
      `import { defineDevice, DeviceBench } from 'kcovbox/device';
       const count = { at: 0, access: 'rw', doc: 'd' };
       const late = defineDevice({ name: 'late', compatible: 'a,b', doc: 'd', registers: { count },
         onWrite: { count: (dev, value) => dev.clock.after('done', value) },
         onAlarm: { done: dev => dev.irq.raise() } });
       const bench = new DeviceBench(late);
       bench.write(0, 5);
       const irq = [4, 1].map(ns => (bench.advance(ns), bench.irq));
       console.log(...irq, bench.peek(0));`,
    );
    expect(node(path, ['bench.mjs'], major)).toBe('false true 5\n');
  });

  test('CommonJS: the same classes in all entries, without a warning', () => {
    writeFileSync(
      join(app, 'all.cjs'),
      `const all = ${JSON.stringify(ENTRIES)}.map(name => require('kcovbox/' + name));
       const [emulator, coverage, node] = all;
       console.log(new Set(all.map(one => one.KcovboxError)).size);
       const program = require.resolve('kcovbox/package.json').replace('package.json', 'guest-programs/openbsd-kcov.c');
       node.run(program, { cover: true }).then(run => console.log(run.status, run.trace instanceof coverage.Trace));
       try { new emulator.Machine({}); } catch (error) { console.log(error.message); }`,
    );
    expect(node(path, ['all.cjs'], major)).toBe('1\nnothing to boot: no kernel\n0 true\n');
  });
});

test.skipIf(missing('chromium', existsSync(CHROMIUM) || undefined)).each([
  ['emulator.mjs', HELLO],
  ['programs.mjs', PROGRAMS],
])('%s in Chromium', async (example, wanted) => {
  await build({
    absWorkingDir: app,
    entryPoints: [example],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    outfile: join(dir, 'page.js'),
    logLevel: 'error',
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  try {
    const page = await browser.newPage();
    const lines: string[] = [];
    page.on('console', message => lines.push(message.text()));
    page.on('pageerror', error => lines.push(String(error)));
    await page.goto('about:blank');
    await page.addScriptTag({ content: readFileSync(join(dir, 'page.js'), 'utf8') });
    expect(`${lines.join('\n')}\n`).toBe(wanted);
  } finally {
    await browser.close();
  }
});
