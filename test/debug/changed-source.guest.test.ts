// The debugger shows no text of a source that was edited after the program or the kernel was
// compiled; it finds the old one in another folder, and a kernel's in its own tree.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-changed-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const PROGRAM = 'int main(void) {\n  volatile int sum = 3;\n  return sum - 3;\n}\n';

test.skipIf(missing('clang and lld', ASSEMBLER))('an edited source has no text', () => {
  const write = (folder: string, text: string) => {
    mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(join(dir, folder, 'made.c'), text);
  };
  const list = (...args: string[]) => {
    const ran = kcovbox(
      ['debug', 'made.kcapsule', ...args, '-x', 'break made.c:2', '-x', 'continue', '-x', 'list'],
      { cwd: dir },
    );
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    return ran.stdout;
  };
  write('.', PROGRAM);
  expect(kcovbox(['run', '--record', 'made.kcapsule', 'made.c'], { cwd: dir }).status).toBe(0);
  const before = list();
  expect(before).toMatch(/^> +2 {4}volatile int sum = 3;$/m);

  write('.', `// a line more\n${PROGRAM}`);
  const after = list();
  expect(after).toContain(
    'made.c has changed since it was compiled: its text is not shown; --source DIR with the old one\n',
  );
  expect(after.match(/has changed/g)).toHaveLength(1);
  expect(after).not.toContain('volatile');
  write('old', PROGRAM);
  expect(list('--source', 'old')).toBe(before);
  expect(list()).toBe(before); // a folder in this one is searched too
});

// In the tree the line of `transfer` is two further down, and it is one in the package, too.
test.skipIf(missing('clang and lld', ASSEMBLER))('the text of a kernel is that of its own tree', () => {
  const at = (name: string): string => join(dir, name);
  const file = join('fs', 'sys_rw.c');
  mkdirSync(at('kernels'));
  cpSync(join(ROOT, 'kernel'), at('kernels/mine'), { recursive: true });
  const text = `/* mine */\n\n${readFileSync(join(ROOT, 'kernel', file), 'utf8')}`;
  const source = at(join('kernels/mine', file));
  writeFileSync(source, text);
  const program = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
  const recorded = kcovbox(
    ['run', '--kernel-source', 'kernels/mine', '--record', 'tree.kcapsule', '--cover', 'tree.kcov', program],
    {
      cwd: dir,
    },
  );
  expect(recorded.status, recorded.stderr).toBe(0);
  const list = (env: Record<string, string>, ...args: readonly string[]) => {
    const commands = ['-x', 'break sys_read', '-x', 'continue', '-x', 'list'];
    const ran = kcovbox(['debug', 'tree.kcapsule', ...args, ...commands], { cwd: dir, env });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    return ran.stdout;
  };
  const CALL = /^> +\d+ {6}iter_user\(&it, buf, MIN\(count, MAX_RW\)\);$|^> +\d+ {2}\{$/m;
  const before = list({});
  expect(before).toMatch(CALL);
  expect(before).not.toContain('kernel was not built here');
  // Edited after the build: neither this text nor the package's.
  writeFileSync(source, `/* again */\n${text}`);
  const edited = list({});
  expect(edited).toContain(`${source} has changed since it was compiled`);
  expect(edited).not.toContain('iter_user');
  // A machine that has not built the kernel knows nothing of its texts.
  const elsewhere = { KCOVBOX_CACHE: at('empty-cache') };
  writeFileSync(source, text);
  renameSync(at('kernels'), at('moved'));
  const own = list(elsewhere, '--source', 'moved/mine');
  expect(own).toMatch(CALL);
  expect(own).not.toContain('kernel was not built here');
  const said = 'the kernel was not built here: ';
  expect(list(elsewhere).split(said)).toHaveLength(2);
  // Reports of coverage, too.
  expect(kcovbox(['capsule', 'extract', '-o', 'parts', 'tree.kcapsule'], { cwd: dir }).status).toBe(0);
  const words = ['cov', 'report', '--by', 'source', '-k', 'parts/kernel.bin', 'tree.kcov'];
  const report = (...more: string[]) => kcovbox([...words, ...more], { cwd: dir, env: elsewhere });
  expect(report().stderr.split(said)).toHaveLength(2);
  const right = report('-S', 'moved/mine');
  expect(right.stderr).toBe('');
  const line = 1 + text.split('\n').findIndex(words => words.startsWith('long sys_read('));
  expect(right.stdout).toMatch(new RegExp(`^ +${line} +long sys_read\\(`, 'm'));
});
