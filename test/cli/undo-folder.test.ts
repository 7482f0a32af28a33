// Folders that a command made are removed again when it fails.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Folder, type Prepared } from '../../cli/experiment/folder.ts';
import { resultsIn } from '../../cli/grade/results.ts';
import { undoOf } from '../../cli/io/output.ts';
import { samplePlan } from '../experiment/sample.ts';

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

describe('experiment: while the images of a new folder are written, another process', () => {
  const planned = (name: string): Prepared => ({
    plan: { ...samplePlan({ trials: 1 }), name },
    images: new Map([[name, new Uint8Array(1)]]),
    sources: new Map(),
  });
  /** `act` follows the first image once. */
  function during(name: string, act: () => void): Prepared {
    let other: (() => void) | undefined = act;
    const images = new Map([[name, new Uint8Array(1)]]);
    images[Symbol.iterator] = function* () {
      yield* images.entries();
      other?.();
      other = undefined;
    } as (typeof images)[typeof Symbol.iterator];
    return { ...planned(name), images };
  }

  it('makes its own plan there', () => {
    const path = join(dir, 'both');
    const first = planned('first');
    const second = during('second', () => Folder.create(path, first, 'first'));
    expect(() => Folder.create(path, second, 'second')).toThrow(/both holds the results of plan /);
    expect(Folder.open(path).plan.name).toBe('first');
    expect(readFileSync(join(path, 'experiment.yaml'), 'utf8')).toBe('first');
    expect(readdirSync(path).sort()).toEqual(['experiment.yaml', 'images', 'plan.json', 'sources']);
  });

  it('makes the same plan there', () => {
    const path = join(dir, 'same-plan');
    const prepared = during('only', () => Folder.create(path, planned('only'), 'text'));
    expect(Folder.create(path, prepared, 'text').plan.name).toBe('only');
  });

  it('fails, and removes them', () => {
    const path = join(dir, 'emptied');
    Folder.create(
      path,
      during('image', () => rmSync(join(path, 'images', 'image'))),
      '',
    );
    expect(readdirSync(join(path, 'images'))).toEqual(['image']);
  });
});
