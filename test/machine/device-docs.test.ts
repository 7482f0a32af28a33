// docs/devices.md is generated from the register maps; UPDATE_DOCS=1 renews it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { deviceDocs } from '../../emulator/machine/device-docs.ts';

const PATH = fileURLToPath(new URL('../../docs/devices.md', import.meta.url));

it('docs/devices.md equals the register maps', () => {
  if (process.env['UPDATE_DOCS']) writeFileSync(PATH, deviceDocs());
  expect(readFileSync(PATH, 'utf8')).toBe(deviceDocs());
});
