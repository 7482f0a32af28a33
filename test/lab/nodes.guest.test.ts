// A grade is the same on each version of Node.js: simulated submissions of three labs, which have
// all outcomes and most kinds of check, give the same bytes. test/web/labs.oracle.test.ts compares
// Chromium with Node.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labScore } from '../../grade/schema.ts';
import { openLab } from '../../host/lab/lab.ts';
import { COMMAND } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';
import { withoutProgress, writeAttacks } from './attacks.ts';
import { CLASS_BUDGET, sampledLab } from './sampled.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-nodes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LABS = ['0', '3', '7'];
const KINDS = ['correct', 'classic', 'endless', 'broken', 'nothing'];
const [present, ...others] = nodeVersions();

const classOf = (lab: string): string => join(dir, `class-${lab}`);
beforeAll(async () => {
  for (const lab of LABS) {
    mkdirSync(classOf(lab));
    await writeAttacks(openLab(lab), classOf(lab));
    for (const name of readdirSync(classOf(lab)))
      if (!KINDS.includes(name)) rmSync(join(classOf(lab), name), { recursive: true });
  }
});

/** All files of the results by their names. */
function gradedBy(node: string, lab: string): Record<string, string> {
  const out = mkdtempSync(join(dir, 'graded-'));
  const sampled = sampledLab(lab, join(dir, 'labs'), CLASS_BUDGET);
  const words = ['grade', classOf(lab), '--lab', sampled, '-o', out];
  const { status, stderr, stdout } = spawnSync(node, [COMMAND, ...words], { encoding: 'utf8' });
  expect({ status, stderr: withoutProgress(stderr) }).toEqual({ status: 0, stderr: '' });
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  const texts = files.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(out.length), readFileSync(path, 'latin1')] as const;
  });
  return { ...Object.fromEntries(texts), stdout };
}

describe.each(LABS)('lab %s', lab => {
  let wanted: Record<string, string>;
  beforeAll(() => {
    wanted = gradedBy(present!.path, lab);
  });

  test('the submissions have different ends', () => {
    const scores = KINDS.map(name => labScore.parse(JSON.parse(wanted[`/${name}/score.json`]!)));
    expect(new Set(scores.map(({ sha256 }) => sha256)).size).toBe(KINDS.length);
    expect(scores.map(({ status }) => status)).toEqual(expect.arrayContaining(['pass', 'budget', 'compile']));
  });

  test.each(others)('on Node.js $major, recorded runs too', ({ path }) => {
    const files = gradedBy(path, lab);
    expect(Object.keys(files).sort()).toEqual(Object.keys(wanted).sort());
    expect(Object.keys(files).filter(name => files[name] !== wanted[name])).toEqual([]);
  });
});
