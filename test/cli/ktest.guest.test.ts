// `kcovbox ktest`: the tests of the kernel pass, a failure is reported with its line, and coverage
// is that of each test.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kcovbox, ROOT } from '../support/command.ts';
import { prebuilt } from '../support/kernels.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-ktest-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const ktest = (...args: string[]) => kcovbox(['ktest', ...args], { cwd: dir });

test.each([
  ['--conf', prebuilt('openbsd+ktest')],
  ['--smp', '4', '--conf', prebuilt('linux+kasan+ubsan+debug+ktest'), '--append', 'panic_on_warn'],
])('all tests pass: %s %s %s %s', (...options) => {
  const { status, stdout } = ktest(...options.filter(word => word !== undefined));
  expect(stdout.match(/^not ok.*$/gm)).toBeNull();
  const [, planned] = /^1\.\.(\d+)$/m.exec(stdout) ?? [];
  expect(stdout.match(/^ok \d+ /gm)).toHaveLength(Number(planned));
  expect(Number(planned)).toBeGreaterThan(6);
  expect(status).toBe(0);
});

test('coverage is of the test that ran, and only of it', () => {
  expect(ktest('--cover', 'tests.kcov', 'driver_test.*').status).toBe(0);
  const calls = (name: string): string => {
    const only = kcovbox(['cov', 'filter', '--test', `driver_test.${name}`, 'tests.kcov', '-o', 'one.kcov'], {
      cwd: dir,
    });
    expect(only.stderr).toBe('');
    return kcovbox(['cov', 'report', '--by', 'function', 'one.kcov'], { cwd: dir }).stdout;
  };
  expect(calls('a_deferred_probe_comes_back')).toMatch(/[1-9]\d* {2}needy_probe /);
  expect(calls('registers_belong_to_one_driver')).not.toMatch(/[1-9]\d* {2}needy_probe /);
});

test('a failure has its line, and status 1; no such test, status 2', () => {
  const tree = join(dir, 'my-kernel');
  cpSync(join(ROOT, 'kernel'), tree, { recursive: true });
  const file = join(tree, 'lib', 'lib_test.c');
  const text = readFileSync(file, 'utf8').replace('strcmp(to, "abc"), 0', 'strcmp(to, "abd"), 0');
  writeFileSync(file, text);
  const line = text.split('\n').findIndex(part => part.includes('"abd"')) + 1;
  const { status, stdout } = ktest('--kernel-source', tree, 'lib_test.*');
  expect(stdout).toContain(`# lib_test.c:${line}: expected strcmp(to, "abd") == 0: left is -1, right is 0`);
  expect(stdout).toContain('not ok 2 lib_test.strlcpy_always_terminates');
  expect(status).toBe(1);
  const unnamed = 'kcovbox: no test is named nothing.*; kcovbox ktest --list lists them\n';
  for (const list of [[], ['--list']])
    expect(ktest(...list, 'nothing.*')).toEqual({ status: 2, stdout: '', stderr: unnamed });
  expect(ktest('--cover', 'none.kcov', 'nothing.*')).toEqual({
    status: 2,
    stdout: '',
    stderr: `kcovbox: none.kcov has no records: no test ran\n${unnamed}`,
  });
});
