// `kcovbox experiment submit slurm` on a real Slurm: 200 trials in an array on two nodes, one of
// which is killed in the middle. The folder has the bytes of a local run. (KCOVBOX_TRIALS=n for
// others.)
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sha256 } from '../../toolchain/index.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { missingSlurm, SlurmCluster, wait } from './slurm-cluster.ts';

const why = missingSlurm();
if (why !== undefined) console.warn(`skipped: ${why}`);

const TRIALS = Number(process.env['KCOVBOX_TRIALS'] ?? 200);
const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-slurm-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const pathsOf = (folder: string): string[] =>
  readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !path.includes('/slurm/'));
const filesOf = (folder: string): Map<string, string> =>
  new Map(pathsOf(folder).map(path => [path.slice(join(cwd, folder).length), sha256(readFileSync(path))]));
/** While trials run, their files come and go. */
const trialsOf = (folder: string): string[] =>
  pathsOf(folder).filter(path => path.endsWith('/trial.json') && !path.includes('.tmp/'));

test.skipIf(why !== undefined)(
  `${TRIALS} trials on two nodes, one killed, are those of a local run`,
  async () => {
    const file = `name: lost
program: { source: ${join(ROOT, 'examples', 'lost.c')}, harts: 2, memory: 32, vary: [sched-seed] }
variants: { o1: {}, o0: { cflags: [-O0] } }
trials: ${TRIALS / 2}
budget: { executions: 3 }
bugs: { lost: { status: 1 } }
`;
    writeFileSync(join(cwd, 'lost.yaml'), file);
    const cluster = new SlurmCluster(join(cwd, 'cluster'));
    try {
      await cluster.start();
      const words = ['submit', 'slurm', '--tasks', '8', '--dir', 'many', 'lost.yaml'];
      const submitted = kcovbox(['experiment', ...words], { cwd, env: cluster.env });
      expect(submitted).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^array \d+ of 8 tasks, collector \d+/),
      });
      while (trialsOf('many').length < TRIALS / 5) await wait(100);
      expect(cluster.killNode('n2')).toBeGreaterThan(1);
      const before = trialsOf('many').length;
      expect(before).toBeLessThan(TRIALS);
      const isOver = (): boolean =>
        cluster
          .run('squeue', '-h', '--states=all', '-o', '%T')
          .split('\n')
          .filter(Boolean)
          .every(state => /COMPLETED|FAILED|CANCELLED|NODE_FAIL/.test(state));
      while (!isOver()) await wait(1000);
      console.info(
        `${before} of ${TRIALS} trials at the kill; ${cluster.run('sinfo', '-h', '-o', '%N %T').trim()}`,
      );
    } finally {
      cluster.stop();
    }
    const local = kcovbox(['experiment', 'run', '-j', '2', '--dir', 'one', 'lost.yaml'], {
      cwd,
      timeout: 1_200_000,
    });
    expect(local.status).toBe(0);
    expect(kcovbox(['experiment', 'report', 'one'], { cwd }).status).toBe(0);
    expect(filesOf('many')).toEqual(filesOf('one'));
  },
);
