// Simulated submissions of a lab, and the grade that each deserves.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckStatus, labScore } from '../../grade/schema.ts';
import type { Lab } from '../../host/lab/lab.ts';
import { seeded } from '../../host/lab/prove.ts';

export interface Attack {
  readonly name: string;
  readonly status: readonly CheckStatus[];
  /** Of the points, in percent. */
  readonly least: number;
  readonly most: number;
  /** Of some check's reason. */
  readonly why: RegExp;
}

const FORK_BOMB = '#include <unistd.h>\nint main(void)\n{\n    for (;;)\n        fork();\n}\n';
const LOOP = 'int main(void)\n{\n    for (;;)\n        ;\n}\n';
const PRINTS =
  '#include <stdio.h>\nint main(void)\n{\n    puts("ok all");\n    puts("0xffffffff80229190");\n    return 0;\n}\n';
const KERNEL_LOOP =
  '\n#include "boot.h"\nstatic void never(void)\n{\n    for (;;)\n        ;\n}\nINITCALL(never);\n';
const KERNEL_PRINTS =
  '#include "types.h"\n#include "boot.h"\n#include "klib.h"\nstatic void say(void)\n{\n    kprintf("ok all\\n");\n}\nINITCALL(say);\n';
/** The realm of a device is no border; the sandbox has no such file. */
const READS =
  "\nconst Outside = require.constructor;\nexport const leak = Outside('return process')().getBuiltinModule('node:fs').readFileSync('/etc/passwd', 'utf8');\n";
const INCBIN = '\n__asm__(".data\\n.incbin \\"/etc/passwd\\"");\n';

/** Writes the submissions below `folder`; answers with the grades they deserve. */
export async function writeAttacks(lab: Lab, folder: string): Promise<Attack[]> {
  const solution = mkdtempSync(join(tmpdir(), 'kcovbox-solution-'));
  const { submission } = await seeded(lab, () => {});
  for (const [name, bytes] of submission.files) writeFileSync(join(solution, name), bytes);
  const starter = join(lab.folder, 'starter');
  const codes = lab.manifest.files.filter(({ name }) => name.endsWith('.c'));
  const isKernel = codes.some(({ place }) => place !== undefined);
  /** A submission in which each C file is what `text` makes of the solution's. */
  const write = (name: string, from: string, text?: (own: string, isPlaced: boolean) => string): string => {
    const to = join(folder, name);
    cpSync(from, to, { recursive: true });
    for (const code of text ? codes : []) {
      const path = join(to, code.name);
      writeFileSync(path, text!(readFileSync(path, 'utf8'), code.place !== undefined));
    }
    return to;
  };
  write('correct', solution);
  write('classic', starter);
  write('empty', starter, () => '');
  write('endless', solution, (own, isPlaced) => (isPlaced ? own + KERNEL_LOOP : LOOP));
  if (!isKernel) write('forkbomb', solution, () => FORK_BOMB);
  write('broken', solution, own => `${own}\nint x = ;\n`);
  write('includes', solution, own => `#include "/etc/passwd"\n${own}`);
  write('incbin', solution, own => own + INCBIN);
  write('prints', starter, (_, isPlaced) => (isPlaced ? KERNEL_PRINTS : PRINTS));
  const edited = write('edits', starter);
  mkdirSync(join(edited, 'tests'), { recursive: true });
  for (const path of lab.tests.keys())
    if (path.endsWith('.c')) writeFileSync(join(edited, path), 'int main(void)\n{\n    return 0;\n}\n');
  mkdirSync(join(folder, 'nothing'));
  const device = lab.manifest.files.find(file => file.device)?.name;
  if (device !== undefined) {
    const change = (name: string, text: (own: string) => string): void => {
      const path = join(write(name, solution), device);
      writeFileSync(path, text(readFileSync(path, 'utf8')));
    };
    change('device-loops', own => own.replace('finish(dev) {', 'finish(dev) {\n      for (;;);'));
    change('device-reads', own => own + READS);
    change('device-broken', own => `${own}\nconst x = ;\n`);
  }
  rmSync(solution, { recursive: true });
  const attack = (name: string, status: CheckStatus[], least: number, most: number, why: RegExp): Attack => ({
    name,
    status,
    least,
    most,
    why,
  });
  const all = [
    attack('correct', ['pass'], 100, 100, /./),
    attack('classic', ['fail', 'part', 'compile'], 0, 50, /./),
    attack('edits', ['fail', 'part', 'compile'], 0, 50, /./),
    attack('empty', ['compile', 'fail'], 0, 50, /undefined symbol|did not execute|not ok|fail|does not/),
    attack('nothing', ['fail'], 0, 0, /(is|are) missing$/),
    attack('endless', ['budget'], 0, 50, /does not end within \d+ million instructions/),
    attack('forkbomb', ['budget', 'fail', 'part'], 0, 50, /./),
    attack('broken', ['compile'], 0, 50, /error: expected expression/),
    attack('includes', ['compile'], 0, 50, /'\/etc\/passwd' file not found/),
    attack(
      'incbin',
      ['compile'],
      0,
      50,
      /inline assembly may not use \.incbin|inline assembly is disabled|gnu-style/i,
    ),
    attack('device-loops', ['budget'], 0, 50, /its device does not come to an end/),
    attack('device-reads', ['compile'], 0, 50, /ENOENT/),
    attack('device-broken', ['compile'], 0, 50, /device\.ts:\d+/),
    attack('prints', ['fail', 'part', 'compile'], 0, 50, /./),
  ];
  return all.filter(({ name }) => readdirSync(folder).includes(name));
}

/** The fault of a grade; undefined: it is deserved. */
export function undeserved(folder: string, { name, status, least, most, why }: Attack): string | undefined {
  const score = labScore.parse(JSON.parse(readFileSync(join(folder, name, 'score.json'), 'utf8')));
  const percent = (100 * score.points) / score.of;
  const text = JSON.stringify(score.checks.map(check => [check.status, check.points, check.why]));
  if (!status.includes(score.status)) return `${name} is ${score.status}: ${text}`;
  if (percent < least || percent > most) return `${name} has ${score.points} of ${score.of}: ${text}`;
  if (!score.checks.some(check => why.test(check.why))) return `${name} has another reason: ${text}`;
  const isLine = score.checks.every(check => /^[^\p{Cc}]+$/u.test(check.why) && !check.why.includes('root:'));
  return isLine ? undefined : `${name} has a reason that is not one line: ${text}`;
}

/** Standard error without the lines that say where long work is: a busy machine has some. */
export const withoutProgress = (stderr: string): string =>
  stderr.replace(/^kcovbox: \d+ of \d+ submissions\n/gm, '');
