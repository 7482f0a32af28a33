// Lines that a user copies or acts on: words with blanks, empty words, a folder that has gone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kcovbox, shell } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-wording-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('lab new prints a command that a shell takes, whatever the folder is called', () => {
  expect(kcovbox(['lab', 'new', "my class's lab"], { cwd: dir }).stdout).toBe(
    "my class's lab: edit lab.json and text.md, then KCOVBOX_TRUST=1 kcovbox lab check 'my class'\\''s lab'\n",
  );
});

test('an empty name of a lab can be seen', () => {
  const { status, stderr } = kcovbox(['grade', '.', '--lab', ''], { cwd: dir });
  expect(stderr).toMatch(/^kcovbox: there is no lab ""; there are 00-first-trace, [^\n]+\n$/);
  expect(status).toBe(125);
});

test('fuzz run in a folder that has gone names the reason', () => {
  const { status, stderr } = shell('mkdir gone && cd gone && rmdir ../gone && kcovbox fuzz run x', {
    cwd: dir,
  });
  expect(stderr).toBe('kcovbox: the current folder is no longer there; change to another one (cd)\n');
  expect(status).toBe(125);
});
