// The trials of one `experiment work`.
import { expect, test } from 'vitest';
import type { Folder } from '../../cli/experiment/folder.ts';
import { Bench } from '../../cli/experiment/work.ts';

const folder = {
  path: '/nowhere',
  plan: { trials: [{ variant: 'o0', index: 1 }] },
} as unknown as Folder;

test('begins no trial once it is stopped, though the queue hands one out', async () => {
  const bench = new Bench(folder);
  bench.stop();
  await expect(bench.run('o0/0001')).rejects.toThrow('stopped before trial o0/0001');
  expect(bench.isBusy).toBe(false);
  expect(bench.failure).toBeUndefined();
});
