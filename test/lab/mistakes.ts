// Known mistakes in the solutions of labs, and the checks that must find them. `npm test` tries one
// of each lab; the slow test tries all.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { labScore } from '../../grade/schema.ts';
import { openLab } from '../../host/lab/lab.ts';
import { startLab } from '../../host/lab/workspace.ts';
import { kcovbox } from '../support/command.ts';

type Change = readonly [from: string | RegExp, to: string];

export interface Mistake {
  readonly lab: string;
  readonly name: string;
  readonly file: string;
  readonly changes: readonly Change[];
  readonly checks: readonly string[];
}

const of = (
  lab: string,
  file: string,
  checks: readonly string[],
  mistakes: Readonly<Record<string, readonly Change[]>>,
): Mistake[] => Object.entries(mistakes).map(([name, changes]) => ({ lab, name, file, changes, checks }));

/** Moves a line in front of another one, or behind it. */
const before = (moved: string, other: string): Change[] => [
  [`    ${moved}\n`, ''],
  [`    ${other}\n`, `    ${moved}\n    ${other}\n`],
];
const behind = (moved: string, other: string): Change[] => [
  [`    ${moved}\n`, ''],
  [`    ${other}\n`, `    ${other}\n    ${moved}\n`],
];
/** Takes the locks out of one function. */
const unlocked = (name: string, lock: string): Change[] => {
  const call = `    (?:mutex|spin)_(?:un)?lock\\(&${lock}\\);\n`;
  const once: Change = [new RegExp(`(^static ${name}\\((?:(?!^\\}).)*?)${call}`, 'ms'), '$1'];
  return [once, once];
};

const LOCK = 'mutex_unlock(&e->lock);';
const CLEAR = 'atomic_store(&e->done, false);';
const START = 'set(e, FACTORIAL, *n);';

/** The first one of each lab is tried in `npm test`. */
export const MISTAKES: readonly Mistake[] = [
  ...of('2', 'sys_resident.c', ['schedules'], {
    'lock for each page': [
      [/^ +mutex_(?:un)?lock\(.*\n/gm, ''],
      [/vm_find\(vm, va\)/, '({ mutex_lock(&vm->lock); vm_find(vm, va); })'],
      [/ {12}break;/, '            mutex_unlock(&vm->lock);\n$&'],
      [/count\+\+;/, '$&\n        mutex_unlock(&vm->lock);'],
    ],
    'lock not given back': [[/count = -ENOMEM;\s+break;/, 'return -ENOMEM;']],
  }),
  ...of('2', 'sys_resident.c', ['locks', 'schedules'], {
    'no lock': [[/^ +mutex_(?:un)?lock\(.*\n/gm, '']],
  }),
  ...of('4', 'cow.c', ['checked'], { 'no shootdown': [[/ +tlb_shootdown\(.*\n/, '']] }),
  ...of('4', 'cow.c', ['harts'], {
    'entry before its page': [
      [/ {8}memcpy\(pa_to_va\(copy\).*\n/, ''],
      [
        / {8}\*pte = 0;\n.*\n/,
        '        pt_set(vma->vm, pte, copy, vma, true);\n' +
          '        memcpy(pa_to_va(copy), pa_to_va(pa), PAGE_SIZE);\n',
      ],
    ],
  }),
  ...of('5', 'edu.c', ['together'], {
    'result read without the lock': before(LOCK, '*n = get(e, FACTORIAL);'),
    'no lock': unlocked('long factorial', 'e->lock'),
    'lost wake-up': behind(CLEAR, START),
    'flag of the operation before': [[`    ${CLEAR}\n`, '']],
  }),
  ...of('6', 'edu.c', ['together'], {
    'history read without the lock': unlocked('i64 edu_read', 'e->history_lock'),
    'history written without the lock': unlocked('void note', 'e->history_lock'),
    'no lock': unlocked('long factorial', 'e->lock'),
  }),
  ...of('9', 'own.c', ['rules'], { 'interrupts are recorded': [['!d || k->nest', '!d']] }),
  ...of('9', 'own.c', ['threads'], {
    'count read twice': [
      ['count >= d->words - 1', 'area[0] >= d->words - 1'],
      [/ {4}u64 count = area\[0\];.*\n/, ''],
      ['    area[count + 1] =', '    u64 count = area[0];\n    area[count + 1] ='],
    ],
    'size set twice': [['taken = d->area == NULL;', 'taken = true;']],
    'enabled without the lock': unlocked('long enable', 'lock'),
    'a child records': [
      ['memset(&child->kcov, 0, sizeof(child->kcov));', 'if (parent)\n        child->kcov = parent->kcov;'],
    ],
  }),
];

function mistaken(source: string, { name, changes }: Mistake): string {
  return changes.reduce((text, [from, to]) => {
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`${name}: the solution has no ${from} any more`);
    return changed;
  }, source);
}

/** Checks that fail, each with the output of its recorded run. */
export interface Found {
  readonly id: string;
  readonly why: string;
  readonly replayed: string;
}

/** Judges the checks of a mistake by a solution that has it. */
export function checksThatFind(mistake: Mistake, dir: string): Found[] {
  const { lab, name, file, checks } = mistake;
  const work = join(dir, `${lab} ${name}`);
  startLab(openLab(lab), work);
  cpSync(join(openLab(lab).folder, 'teacher', 'solution'), work, { recursive: true });
  writeFileSync(join(work, file), mistaken(readFileSync(join(work, file), 'utf8'), mistake));
  const only = checks.flatMap(check => ['--only', check]);
  const { stdout } = kcovbox(['lab', 'test', '--json', ...only], { cwd: work, timeout: 170_000 });
  const score = labScore.parse(JSON.parse(stdout));
  const failed = score.checks.filter(({ status }) => status === 'fail' || status === 'budget');
  return failed.map(({ id, why, capsule }) => {
    const replayed = kcovbox(['replay', join('failed', capsule!)], { cwd: work }).stdout;
    return { id, why, replayed };
  });
}

/** The line of output that a failure quotes. */
export const quotedIn = (why: string): string => /"(.*)"$/.exec(why)?.[1] ?? '';
