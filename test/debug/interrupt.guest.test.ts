// `kcovbox debug` at a terminal: Ctrl-C ends a motion, not the debugger.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { COMMAND, kcovbox, ROOT } from '../support/command.ts';
import { findProgram, missing } from '../support/tools.ts';
import { longProgram } from './long.ts';

const PERSON = join(ROOT, 'test', 'cli', 'person.py');
const PYTHON = findProgram('python3');
const CTRL_C = '\\x03';
const CTRL_D = '\\x04';

describe.skipIf(missing('python3', PYTHON) || missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-interrupt-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('Ctrl-C ends a motion: forwards on its way, backwards where it began', () => {
    // A search over the whole run takes seconds, so it cannot end before Ctrl-C.
    writeFileSync(join(dir, 'long.c'), longProgram(1500));
    const recorded = kcovbox(['run', '--record', 'long.kcapsule', 'long.c'], { cwd: dir });
    expect(recorded.status, recorded.stderr).toBe(3);
    const script = [
      'expect (kcovbox)',
      'send continue\\r',
      'wait 0.5',
      `send ${CTRL_C}`,
      'expect interrupted',
      'expect (kcovbox)',
      'send frame\\r',
      'expect (kcovbox)',
      'send break _start\\r',
      'expect (kcovbox)',
      'send goto end\\r',
      'expect done',
      'expect (kcovbox)',
      'send back\\r',
      'wait 0.3',
      `send ${CTRL_C}`,
      'expect interrupted',
      'expect (kcovbox)',
      'send when now_and_then\\r',
      'wait 0.3',
      `send ${CTRL_C}`,
      'expect interrupted',
      'expect (kcovbox)',
      'send frame\\r',
      'expect (kcovbox)',
      `send ${CTRL_D}`,
    ].join('\n');
    const ran = spawnSync(PYTHON!, [PERSON, process.execPath, COMMAND, 'debug', 'long.kcapsule'], {
      cwd: dir,
      encoding: 'utf8',
      input: script,
      timeout: 150_000,
    });
    expect(ran.stdout, ran.stderr).not.toBe('');
    const { status, text, restored } = JSON.parse(ran.stdout) as Record<string, unknown>;
    expect({ status, restored }).toEqual({ status: 0, restored: true });
    const units = [...String(text).matchAll(/^unit (\d+), /gm)].map(([, unit]) => Number(unit));
    const [start, paused, same, end, back, still] = units;
    expect(paused).toBeGreaterThan(start!);
    expect(same).toBe(paused);
    expect(end).toBeGreaterThan(paused!);
    expect(back).toBe(end);
    // A search leaves the run where it was.
    expect(text).not.toContain('it ran');
    expect(still).toBe(end);
  });
});
