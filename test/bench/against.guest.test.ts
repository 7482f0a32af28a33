// `kcovbox bench --against`: this checkout beside itself.
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { which } from '../../toolchain/index.ts';
import { ROOT } from '../support/command.ts';

const bench = (...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'bin', 'kcovbox.cjs'), 'bench', ...args], { encoding: 'utf8' });

test.skipIf(!which('taskset'))('two checkouts run in pairs on one processor', () => {
  const { stdout, status } = bench('--against', ROOT, '-r', '1', 'patch', 'ecall');
  expect(status).toBe(0);
  for (const name of ['patch', 'ecall']) {
    const row = new RegExp(
      `^\\| ${name} \\| ([\\d.]+) \\| ([\\d.]+) \\| ([\\d.]+) \\| [\\d.]+ to [\\d.]+ \\|$`,
      'm',
    );
    const [, before, now, ratio] = row.exec(stdout)!.map(Number);
    expect(before).toBeGreaterThan(0);
    expect(ratio).toBeCloseTo(now! / before!, 1);
  }
  expect(stdout).toContain('medians of 1, both at the same time on one processor');
});

test('a folder that is no checkout is refused in one line', () => {
  const { stderr, status } = bench('--against', tmpdir(), 'patch');
  expect(status).toBe(125);
  expect(stderr.trim()).toBe(
    `kcovbox: bench --against: ${tmpdir()} is no checkout of kcovbox: it has no bin/kcovbox.cjs`,
  );
});
