// Rules that experiments on every target follow: for tests of kernels that are none of kcovbox.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { shortHash } from '../../experiment/plan.ts';
import type { ExperimentTrial, FuzzPlan } from '../../experiment/schema.ts';
import type { CampaignEpoch } from '../../run/fuzz/schema.ts';
import { kcovbox } from '../support/command.ts';

interface OnTarget {
  readonly cwd: string;
  /** Lines of the file, with the target's key. */
  readonly keys: string;
  readonly env?: Readonly<Record<string, string>>;
}

const experiment = ({ cwd, env }: OnTarget, ...words: readonly string[]) => {
  const ran = kcovbox(['experiment', ...words], { cwd, timeout: 1_200_000, ...(env && { env }) });
  expect([words[0], ran.status, ran.stderr.replace(/^kcovbox: warning: .*\n/, '')]).toEqual([
    words[0],
    0,
    expect.not.stringContaining('kcovbox:'),
  ]);
  return ran.stdout;
};

const trialIn = (cwd: string, folder: string, id: string): ExperimentTrial =>
  JSON.parse(readFileSync(join(cwd, folder, 'trials', id, 'trial.json'), 'utf8')) as ExperimentTrial;

/**
 * An experiment has the same bytes with one and two workers, in shards, and from its crate, for
 * which nobody needs to trust anything. Its plan and its report, for more.
 */
export function expectRepeatable(on: OnTarget): { plan: FuzzPlan; report: string; sources: string[] } {
  const { cwd, keys } = on;
  const file =
    `name: repeatable\nfuzz:\n${keys}  batches: 2\n  per-batch: 32\n` +
    'variants:\n  without: { comparisons: false }\n  with: {}\ntrials: 2\nbudget: { executions: 128 }\n';
  writeFileSync(join(cwd, 'repeatable.yaml'), file);
  for (const jobs of ['1', '2'])
    experiment(on, 'run', '-j', jobs, '--dir', `jobs-${jobs}`, 'repeatable.yaml');
  experiment(on, 'plan', '--dir', 'shards', 'repeatable.yaml');
  const stranger = { ...on, env: { KCOVBOX_TRUST: '' } };
  for (const index of ['1', '0']) experiment(stranger, 'shard', '--index', index, '--of', '2', 'shards');
  for (const other of ['jobs-2', 'shards']) {
    const diff = spawnSync('diff', ['-r', 'jobs-1', other], { cwd, encoding: 'utf8' });
    expect([other, diff.status, diff.stdout]).toEqual([other, 0, '']);
  }
  const report = experiment(stranger, 'report', 'jobs-1');
  expect(experiment(stranger, 'verify', '--sample', '100%', 'jobs-1')).toBe('4 trials ran again: equal\n');
  experiment(stranger, 'export', '--format', 'crate', '--date', '2026-11-27', '-o', 'crate', 'jobs-1');
  expect(experiment(stranger, 'reproduce', '-j', '1', '-o', 'again', 'crate')).toMatch(
    /every byte is equal\n$/,
  );
  const trials = ['with/0000', 'with/0001', 'without/0000'].map(id => trialIn(cwd, 'jobs-1', id).runs.join());
  expect(new Set(trials).size).toBe(3);
  const sources = (readdirSync(join(cwd, 'crate'), { recursive: true }) as string[]).filter(path =>
    path.startsWith('sources/'),
  );
  return {
    plan: JSON.parse(readFileSync(join(cwd, 'crate', 'plan.json'), 'utf8')) as FuzzPlan,
    report,
    sources,
  };
}

/** A trial is the campaign in `folder`, of so many epochs. */
export function expectCampaign(on: OnTarget, folder: string, seed: string, epochs: number): void {
  const file =
    `name: same\nfuzz:\n${on.keys}variants: { a: {} }\nseeds: ['${seed}']\n` +
    `budget: { executions: ${epochs * 1024} }\n`;
  writeFileSync(join(on.cwd, 'same.yaml'), file);
  experiment(on, 'run', '-j', '1', '--dir', 'same', 'same.yaml');
  const lines = readFileSync(join(on.cwd, folder, 'epochs.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .slice(0, epochs);
  const hashes = lines.map(line => {
    const { units, entries, crashes, words } = JSON.parse(line) as CampaignEpoch;
    return shortHash([units, entries.map(({ text, execution }) => [text, execution]), crashes, words]);
  });
  expect(trialIn(on.cwd, 'same', 'a/0000').runs).toEqual(hashes);
}
