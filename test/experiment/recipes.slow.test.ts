// The recipes for other engines in examples/experiment/cluster: GNU parallel and Snakemake run them
// and give the bytes of a local run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../toolchain/index.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';
import { findProgram } from '../support/tools.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-recipes-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const RECIPES = join(ROOT, 'examples', 'experiment', 'cluster');
const KCOVBOX = `${process.execPath} ${COMMAND}`;

function missing(name: string): boolean {
  if (findProgram(name)) return false;
  if (process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore' });
  if (findProgram(name)) return false;
  console.warn(`skipped: the package ${name} cannot be installed`);
  return true;
}

beforeAll(() => {
  const source = join(ROOT, 'examples', 'lost.c');
  writeFileSync(
    join(cwd, 'lost.yaml'),
    `name: lost\nprogram: { source: ${source}, harts: 2, memory: 32 }\nvariants: { o1: {}, o0: { cflags: [-O0] } }\n` +
      'trials: 4\nbudget: { executions: 2 }\nbugs: { lost: { status: 1 } }\n',
  );
  for (const dir of ['local', 'parallel', 'snake'])
    expect(kcovbox(['experiment', 'plan', '--dir', dir, 'lost.yaml'], { cwd }).status).toBe(0);
  expect(kcovbox(['experiment', 'run', '-j', '2', 'local'], { cwd }).status).toBe(0);
  expect(kcovbox(['experiment', 'report', 'local'], { cwd }).status).toBe(0);
});

const filesOf = (folder: string): [string, string][] =>
  readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))])
    .sort();

test.skipIf(missing('parallel'))('GNU parallel', () => {
  const run = () =>
    spawnSync(join(RECIPES, 'parallel.sh'), ['parallel', '3', '-j', '2', '--will-cite'], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, KCOVBOX },
    });
  const first = run();
  expect(first.status, first.stderr).toBe(0);
  expect(run().status).toBe(0);
  expect(kcovbox(['experiment', 'report', 'parallel'], { cwd }).status).toBe(0);
  expect(filesOf('parallel')).toEqual(filesOf('local'));
});

test.skipIf(missing('snakemake'))('Snakemake', () => {
  const config = ['--config', 'folder=snake', 'shards=3', `kcovbox=${KCOVBOX}`];
  const ran = spawnSync('snakemake', ['-s', join(RECIPES, 'Snakefile'), '-j', '2', ...config], {
    cwd,
    encoding: 'utf8',
  });
  expect(ran.status, ran.stderr).toBe(0);
  expect(filesOf('snake')).toEqual(filesOf('local'));
});
