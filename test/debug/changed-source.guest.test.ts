// The debugger shows no text of a source that was edited after the program was compiled; it finds
// the old one in another folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
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
