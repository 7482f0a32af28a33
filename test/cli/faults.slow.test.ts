// Each row of a sweep, again: the command of the row has the outcome that the row says.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type FaultSweep, faultSweep } from '../../run/faults/schema.ts';
import { kcovbox, ROOT, shell } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-sweep-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['--device examples/device/summer.ts --driver examples/device/summer.c examples/device/use.c -- 1 2 39'],
  ['--events 12 --kasan examples/factorial.c -- 6'],
])('sweep %s', words => {
  const out = join(dir, 'rows.json');
  kcovbox(['faults', 'sweep', '-o', out, ...words.split(' ')], { cwd: ROOT, timeout: 600_000 });
  const { rows, without }: FaultSweep = faultSweep.parse(JSON.parse(readFileSync(out, 'utf8')));
  expect(rows.length).toBeGreaterThan(50);
  for (const { command, status, outcome, line } of rows) {
    const ran = shell(command, { cwd: ROOT });
    expect({ command, status: ran.status }).toEqual({ command, status });
    if (outcome === 'ok') expect({ command, out: ran.stdout }).toEqual({ command, out: without.console });
    else expect(ran.stdout).toContain(line);
  }
});
