// The command on every supported version of Node.js: the same runs, and no messages of V8.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { nodeVersions } from '../support/nodes.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMMAND = join(ROOT, 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-nodes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const PROGRAM = join(dir, 'sums.c');
writeFileSync(
  PROGRAM,
  `#include <stdio.h>
   #include <math.h>
   #include <sys/wait.h>
   #include <unistd.h>
   int main(void) {
     double x = 1;
     for (int i = 0; i < 3; i++) if (fork() == 0) {
       for (int n = 1; n < 200000; n++) x = fma(x, 1.0000001, 1.0 / n);
       _exit(x > 3);
     }
     int status, sum = 0;
     while (wait(&status) > 0) sum += WEXITSTATUS(status);
     printf("%d\\n", sum);
     return sum;
   }`,
);

const nodes = nodeVersions();
const kcovbox = (node: string, args: readonly string[], flags: readonly string[] = []) =>
  spawnSync(node, [...flags, COMMAND, ...args], { encoding: 'utf8', input: '', timeout: 120_000 });

/** A result without the versions and the engine. */
const withoutHost = (text: string): string => JSON.stringify({ ...JSON.parse(text), host: undefined });

/** Standard output, standard error, status and --result of a run. */
function resultOn(node: string, engine: string): string {
  const result = join(dir, 'result.json');
  const args = ['run', '--smp', '3', '--seed', '7', '--engine', engine, '--result', result, PROGRAM];
  const { stdout, stderr, status } = kcovbox(node, args);
  const written = withoutHost(readFileSync(result, 'utf8'));
  rmSync(result);
  return JSON.stringify({ stdout, stderr, status, written });
}

describe('on each version of Node.js', () => {
  const [first] = nodes;
  const wanted = resultOn(first!.path, 'jit');

  test('the program ran', () =>
    expect(JSON.parse(wanted)).toMatchObject({ stdout: '3\n', stderr: '', status: 3 }));

  test.each(nodes.flatMap(node => ['jit', 'interp'].map(engine => ({ ...node, engine }))))(
    'Node.js $major with $engine: the same output, hash and status',
    ({ path, engine }) => expect(resultOn(path, engine)).toBe(wanted),
  );

  test.each(nodes)('Node.js $major without any flag of ours: the same hash', ({ path }) => {
    const result = join(dir, 'bare.json');
    const bundle = join(ROOT, 'dist', 'kcovbox.cjs');
    const script = `require(${JSON.stringify(bundle)}).main(process.argv).then(s => process.exitCode = s)`;
    const args = ['run', '--smp', '3', '--seed', '7', '--result', result, PROGRAM];
    // The bundle itself sets no flag; the command does. `-e` leaves out the script's name in argv.
    const run = spawnSync(path, ['-e', script, 'kcovbox', ...args], { encoding: 'utf8', input: '' });
    expect(run).toMatchObject({ stderr: '', status: 3 });
    expect(withoutHost(readFileSync(result, 'utf8'))).toBe(JSON.parse(wanted).written);
  });

  test.each(nodes)('Node.js $major --jitless: one sentence', ({ path }) => {
    const { stdout, stderr, status } = kcovbox(path, ['demo'], ['--jitless']);
    expect({ stdout, status }).toEqual({ stdout: '', status: 125 });
    const ours = stderr.split('\n').filter(line => !line.startsWith('Warning: disabling flag'));
    expect(ours).toEqual([
      'kcovbox: this Node.js runs without WebAssembly; omit --jitless (also in NODE_OPTIONS)',
      '',
    ]);
  });
});
