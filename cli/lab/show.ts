// A check on the terminal: what was decided, why, the path of the run, and what to type next.
import colors from 'picocolors';
import { visible } from '../../emulator/base/words.ts';
import type { CheckScore, LabScore } from '../../grade/schema.ts';
import { pathWord } from '../io/shell-word.ts';

const pc = colors.createColors(process.stdout.isTTY === true);

const COLOURS: Readonly<Record<CheckScore['status'], (text: string) => string>> = {
  pass: pc.green,
  part: pc.yellow,
  skipped: pc.dim,
  fail: pc.red,
  budget: pc.red,
  compile: pc.red,
  error: pc.magenta,
};

/** Lines of a path that are shown. */
const PATH_MAX = 12;

/** `folder`: of the recorded runs; `sources`: the folders of their sources. */
export function checkText(check: CheckScore, folder: string, sources: readonly string[]): string {
  const { status, points, of, id, says, why, path = [], capsule } = check;
  const head = `${COLOURS[status](status.padEnd(7))} ${`${points}/${of}`.padStart(6)}  ${id}: ${says}`;
  if (status === 'pass') return `${head}\n`;
  const shown = path.slice(0, PATH_MAX).map(line => `  ran     ${visible(line)}`);
  const more = path.length > PATH_MAX ? [`  ran     ... and ${path.length - PATH_MAX} more functions`] : [];
  const words = sources.map(source => `--source ${pathWord(source)} `).join('');
  const next = capsule ? [`  back    kcovbox debug ${words}${pathWord(`${folder}/${capsule}`)}`] : [];
  const help = status === 'skipped' ? [] : [`  hint    kcovbox lab hint ${id}`];
  return [head, `  why     ${visible(why)}`, ...shown, ...more, ...next, ...help, ''].join('\n');
}

export function totalText({ points, of, checks, sha256 }: LabScore): string {
  const skipped = checks.filter(({ status }) => status === 'skipped').reduce((n, check) => n + check.of, 0);
  const later = skipped > 0 ? `; ${skipped} more are judged by the teacher` : '';
  return `${points} of ${of - skipped} points${later}\nhash ${sha256}\n`;
}
