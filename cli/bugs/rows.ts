// The historical bugs of the package: a folder in bugs/ for each, with bug.json and trigger.c.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUG_CLASSES, type Bug, bugRow } from '../../run/bugs/row.ts';
import { packageRoot } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';

const folder = (): string => join(packageRoot(), 'bugs');

export const triggerOf = (id: string): string => join(folder(), id, 'trigger.c');

/** All of them, by class and then by name. */
export function readBugs(): Bug[] {
  const ids = readdirSync(folder()).filter(id => existsSync(join(folder(), id, 'bug.json')));
  const bugs = ids.map(id => ({
    id,
    ...bugRow.parse(JSON.parse(readFileSync(join(folder(), id, 'bug.json'), 'utf8'))),
  }));
  const place = (bug: Bug): number => BUG_CLASSES.indexOf(bug.class);
  return bugs.sort((a, b) => place(a) - place(b) || (a.id < b.id ? -1 : 1));
}

export function findBug(id: string): Bug {
  const bug = readBugs().find(one => one.id === id);
  if (!bug) throw new UserError(`there is no bug named "${id}"; kcovbox bugs list shows them`);
  return bug;
}
