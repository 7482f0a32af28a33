// Folders that a command made are removed again when it fails.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Folder, type Prepared } from '../../cli/experiment/folder.ts';
import { resultsIn } from '../../cli/grade/results.ts';
import { undoOf } from '../../cli/io/output.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-undo-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('no folder above the one that it made stays, and one that was there does', () => {
  const path = join(dir, 'z', 'y', 'x');
  const { isNew, undo } = undoOf(path);
  expect(isNew).toBe(true);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'file'), '');
  undo();
  expect(existsSync(join(dir, 'z'))).toBe(false);

  // The command came no further than this.
  const partly = undoOf(path);
  mkdirSync(join(dir, 'z'));
  partly.undo();
  expect(existsSync(join(dir, 'z'))).toBe(false);

  const there = join(dir, 'there');
  mkdirSync(there);
  const old = undoOf(there);
  expect(old.isNew).toBe(false);
  writeFileSync(join(there, 'file'), '');
  old.undo();
  expect(readdirSync(there)).toEqual([]);
});

it('what another command has made meanwhile stays', () => {
  const mine = undoOf(join(dir, 'shared', 'mine'));
  mkdirSync(join(dir, 'shared', 'mine'), { recursive: true });
  writeFileSync(join(dir, 'shared', 'mine', 'file'), '');
  mkdirSync(join(dir, 'shared', 'other'));
  mine.undo();
  expect(readdirSync(join(dir, 'shared'))).toEqual(['other']);

  // Both wanted the same folder, and the other one was faster.
  const second = undoOf(join(dir, 'same'));
  mkdirSync(join(dir, 'same'));
  writeFileSync(join(dir, 'same', 'campaign.json'), '');
  second.undoFolders();
  expect(readdirSync(join(dir, 'same'))).toEqual(['campaign.json']);
});

it('grade: results that are discarded', () => {
  mkdirSync(join(dir, 'given'));
  resultsIn(join(dir, 'z', 'y', 'graded'), join(dir, 'given')).discard();
  expect(existsSync(join(dir, 'z'))).toBe(false);
  mkdirSync(join(dir, 'graded'));
  resultsIn(join(dir, 'graded'), join(dir, 'given')).discard();
  expect(readdirSync(join(dir, 'graded'))).toEqual([]);
});

it('experiment: a folder of other files, and one whose images cannot be written', () => {
  const plan = { trials: [], variants: [] } as unknown as Prepared['plan'];
  const prepared: Prepared = { plan, images: new Map([['a/b', new Uint8Array()]]), sources: new Map() };
  const full = join(dir, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'mine'), '');
  expect(() => Folder.create(full, prepared, '')).toThrow(/full is not empty and holds no plan/);
  expect(readdirSync(full)).toEqual(['mine']);
  expect(() => Folder.create(join(dir, 'z', 'y'), prepared, '')).toThrow(/cannot write .*a\/b/);
  expect(existsSync(join(dir, 'z'))).toBe(false);
});
