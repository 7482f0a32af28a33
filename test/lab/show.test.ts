// The command that a failed check prints can be pasted into a shell, wherever the folder lies.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { checkText } from '../../cli/lab/show.ts';
import type { CheckScore } from '../../grade/schema.ts';

const FAILED: CheckScore = {
  ...{ id: 'reads', says: 'it reads', status: 'fail', points: 0, of: 1 },
  ...{ why: 'it does not', capsule: 'reads.kcapsule' },
};

test.each(['lab', 'my lab', "it's", '-lab', 'a\nb'])('the command that goes back, in %j', folder => {
  const text = checkText(FAILED, `${folder}/failed`, [`${folder}/failed/source`, folder]);
  const [, command] = /^ {2}back {4}kcovbox (.*)$/m.exec(text)!;
  const words = execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  const path = folder.startsWith('-') ? `./${folder}` : folder;
  expect(words.split('\0').slice(0, -1)).toEqual([
    ...['debug', '--source', `${path}/failed/source`, '--source', path],
    `${path}/failed/reads.kcapsule`,
  ]);
});

test('names of functions control no terminal', () => {
  const text = checkText({ ...FAILED, path: ['a\u001b]0;b'] }, 'failed', []);
  expect(text).toContain('  ran     a\\x1b]0;b\n');
});
