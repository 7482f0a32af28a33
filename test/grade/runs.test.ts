// The kernels that a submission is built into.
import { expect, test } from 'vitest';
import type { LabContents, Submission } from '../../grade/judge/lab.ts';
import { Runs } from '../../grade/judge/runs.ts';
import type { Workshop } from '../../grade/judge/workshop.ts';
import { CompileError, ToolchainError } from '../../toolchain/errors.ts';

const manifest = { conf: 'linux+teach', files: [{ name: 'cow.c', place: 'mm/cow.c' }] };
const lab = { name: '04', manifest, tests: new Map() } as unknown as LabContents;
const files = new Map([['cow.c', new Uint8Array(1)]]);
const submission: Submission = { name: 's', files, sha256: '0', missing: [], ignored: [] };

/** Runs, and the configurations for which they asked for a kernel. */
function runsWith(kernel: () => Uint8Array): { runs: Runs; asked: string[] } {
  const asked: string[] = [];
  const workshop = {
    kernel: async (conf: string) => {
      asked.push(conf);
      return kernel();
    },
  } as unknown as Workshop;
  return { runs: new Runs(lab, submission, workshop), asked };
}

test('checks share the kernel of a submission, one for each configuration', async () => {
  const { runs, asked } = runsWith(() => new Uint8Array(4));
  const kernel = await runs.kernel({ program: 'a.c' });
  expect(await runs.kernel({ program: 'b.c', harts: 2 })).toBe(kernel);
  expect(await runs.kernel({ program: 'b.c', with: ['kasan'] })).not.toBe(kernel);
  expect(await runs.kernel({ program: 'b.c' }, { overlay: new Map() })).not.toBe(kernel);
  expect(asked).toEqual(['linux+teach', 'linux+teach+kasan', 'linux+teach']);
});

test('a kernel that does not compile is not compiled again, another failure is tried again', async () => {
  for (const [error, times] of [
    [new CompileError('cow.c does not compile'), 1],
    [new ToolchainError('no space left'), 2],
  ] as const) {
    const { runs, asked } = runsWith(() => {
      throw error;
    });
    await expect(runs.kernel({ program: 'a.c' })).rejects.toBe(error);
    await expect(runs.kernel({ program: 'a.c' })).rejects.toBe(error);
    expect(asked.length).toBe(times);
  }
});
