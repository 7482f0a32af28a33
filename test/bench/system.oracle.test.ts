// The system workloads compute the same here and on QEMU, and their figures are those of the run.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ENGINES, measure } from '../../bench/engines.ts';
import { figuresOf } from '../../bench/system/figures.ts';
import { phases } from '../../bench/system/phases.ts';
import { type Workload, workloadOf } from '../../bench/workloads.ts';
import { buildProgram, findTool } from '../../toolchain/index.ts';
import { findProgram, missing } from '../support/tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const fetched = spawnSync(process.execPath, [join(ROOT, 'setup/fetch-guests.mjs')], { encoding: 'utf8' });
const absent = [
  missing('clang-19', findTool('clang')),
  missing('qemu-system-riscv64', findProgram('qemu-system-riscv64')),
  missing(`busybox (${fetched.stderr.trim()})`, fetched.status === 0 ? fetched.stdout : undefined),
].some(Boolean);

const small: Workload = {
  ...{ name: 'small', title: 'small', warmUp: 0, repeat: 1 },
  system: {
    kernel: 'own',
    prepare: 'seq 1 300 > /tmp/a',
    script: 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; echo $i; sort -r /tmp/a | head -n 3',
  },
};
const check = async (engine: string, w: Workload): Promise<string> =>
  (await measure(ENGINES.find(e => e.name === engine)!, w)).check;

describe.skipIf(absent)('a system workload', () => {
  test('of the user gets its arguments, and its exit status is the check', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'own-'));
    const source = join(folder, 'own.c');
    writeFileSync(
      source,
      `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    puts("end 1234567812345678"); /* not the mark */
    if (argc == 1) abort();
    return argc == 3 && !strcmp(argv[1], "it's $HOME") && !strcmp(argv[2], "") ? 77 : 1;
}
`,
    );
    const { path } = await buildProgram(source, { dialect: 'linux' });
    rmSync(folder, { recursive: true });
    const own = workloadOf({ name: 'own', path, args: ["it's $HOME", ''] });
    for (const engine of ['kcovbox jit', 'qemu']) expect(await check(engine, own)).toBe('000000000000004d');
    expect((await figuresOf(own.system!)).instructions).toBeGreaterThan(1000);
    const crash = workloadOf({ name: 'crash', path, args: [] });
    await expect(check('kcovbox jit', crash)).rejects.toThrow(
      'kcovbox jit did not finish program: exit status 134',
    );
  }, 120_000);

  test('does a multiple of the work, and boots do not', () => {
    const [once, thrice] = [phases(), phases(3)];
    expect(once.map(({ name }) => name)).toEqual(thrice.map(({ name }) => name));
    const changed = once.filter((phase, i) => JSON.stringify(phase) !== JSON.stringify(thrice[i]));
    expect(changed.map(({ name }) => name)).toEqual(once.flatMap(p => (p.system.script ? [p.name] : [])));
    expect(thrice[0]!.title).toBe('shell: 150,000 additions in ash');
    expect(thrice[0]!.system.script).toContain('-lt 150000 ]');
  });

  test('has the same check value on QEMU, and another one if it writes something else', async () => {
    const expected = await check('qemu', small);
    expect(await check('kcovbox jit', small)).toBe(expected);
    const other = { ...small, system: { ...small.system!, prepare: 'seq 1 98 > /tmp/a' } };
    expect(await check('kcovbox jit', other)).not.toBe(expected);
  }, 120_000);

  test('has figures of what was between the marks, and of what was compiled', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const figures = await figuresOf(small.system!);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5); // of the event loop, which receives signals
    expect(figures.instructions).toBeGreaterThan(3_000_000);
    expect(figures.instructions).toBeLessThan(30_000_000);
    expect(figures.compiledShare).toBeGreaterThanOrEqual(0);
    expect(figures.compiledShare).toBeLessThan(1);
    const boot = await figuresOf(phases().find(({ name }) => name === 'boot')!.system);
    expect(boot.instructions).toBeGreaterThan(1_000_000);
    expect(boot.instructions).toBeLessThan(figures.instructions * 10);
  }, 120_000);
});
