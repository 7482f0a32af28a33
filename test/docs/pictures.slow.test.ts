// The pictures in docs/images can be made again from what the command writes: every view is there,
// and so is the line whose points are shown.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { missing } from '../coverage/support.ts';
import { ROOT } from '../support/command.ts';

let reason = missing('pictures of the report', 'clang-19', 'ld.lld-19');
if (!reason && !existsSync(CHROMIUM)) {
  reason = `pictures of the report skipped: no ${CHROMIUM}`;
  console.warn(reason);
}

/** Width and height in the header chunk of a PNG file. */
const sizeOf = (path: string): number[] => {
  const bytes = readFileSync(path);
  expect(bytes.toString('latin1', 12, 16)).toBe('IHDR');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

it.skipIf(reason)('the pictures come from the command', { timeout: 600_000 }, () => {
  const out = mkdtempSync(join(tmpdir(), 'kcovbox-pictures-'));
  try {
    execFileSync(process.execPath, [join(ROOT, 'setup', 'pictures.mjs'), '--out', out], { cwd: ROOT });
    const images = join(ROOT, 'docs', 'images');
    const names = readdirSync(images).filter(name => name.startsWith('coverage-'));
    expect(readdirSync(out).sort()).toEqual(names.sort());
    for (const name of names) {
      expect(sizeOf(join(out, name))).toEqual([1400, 860]);
      expect(sizeOf(join(images, name))).toEqual([1400, 860]);
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
