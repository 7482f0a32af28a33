// `kcovbox bench --against`: this checkout beside itself.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test.skipIf(!which('taskset'))('Ctrl-C shows the rows so far, and leaves no engine running', async () => {
  const words = ['bench', '--against', ROOT, '-r', '50', 'patch', 'ecall'];
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'kcovbox.cjs'), ...words]);
  const [out, err] = [child.stdout, child.stderr].map(stream => {
    const chunks: Buffer[] = [];
    stream.on('data', chunk => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  });
  while (!err!().includes('2/100 ecall\n')) await new Promise(done => setTimeout(done, 10));
  const ended = once(child, 'close'); // also of its children's copies of the pipes
  child.kill('SIGINT');
  expect((await ended)[0]).toBe(130);
  expect(err!()).toMatch(/\nkcovbox: bench: interrupted; the results above are those so far\n$/);
  expect(out!()).toMatch(/^\| ecall \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ to [\d.]+ \|$/m);
  expect(out!()).not.toContain('patch');
  expect(out!()).toContain('medians of at most 50, both');
});

test('SIGTERM in --curves ends the run that is measured, too', async () => {
  const words = ['bench', '--curves', '-r', '1'];
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'kcovbox.cjs'), ...words]);
  const ended = once(child, 'close'); // also of its children's copies of the pipes
  const runs = (): string[] =>
    spawnSync('ps', ['-o', 'pid=', '--ppid', `${child.pid}`], { encoding: 'utf8' })
      .stdout.trim()
      .split(/\s+/)
      .filter(Boolean);
  while (runs().length === 0) await new Promise(done => setTimeout(done, 10));
  const [run] = runs();
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(143);
  // By itself it takes longer than this. Nobody may have asked for its status yet.
  await new Promise(done => setTimeout(done, 100));
  expect(spawnSync('ps', ['-o', 'stat=', '-p', run!], { encoding: 'utf8' }).stdout).toMatch(/^(Z.*\n)?$/);
});

test('a folder that is no checkout is refused in one line', () => {
  const { stderr, status } = bench('--against', tmpdir(), 'patch');
  expect(status).toBe(125);
  expect(stderr.trim()).toBe(
    `kcovbox: bench --against: ${tmpdir()} is no checkout of kcovbox: it has no bin/kcovbox.cjs`,
  );
});

test.skipIf(!which('taskset'))(
  'a workload that does not finish is one line, with the last one it said',
  () => {
    const checkout = mkdtempSync(join(tmpdir(), 'kcovbox-against-'));
    try {
      mkdirSync(join(checkout, 'bin'));
      const fails = 'console.error("kcovbox: boot: no such option"); process.exit(125);\n';
      writeFileSync(join(checkout, 'bin', 'kcovbox.cjs'), fails);
      const { status, stderr } = bench('--against', checkout, '-r', '1', 'patch');
      expect(status).toBe(125);
      expect(stderr.trim().split('\n').slice(1)).toEqual([
        `kcovbox: ${checkout} did not finish patch: kcovbox: boot: no such option`,
      ]);
    } finally {
      rmSync(checkout, { recursive: true, force: true });
    }
  },
);
