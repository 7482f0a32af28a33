// docs/csrs.md is generated from the CSR table; UPDATE_DOCS=1 renews it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { csrDocs } from '../../emulator/isa/csr-docs.ts';

const PATH = fileURLToPath(new URL('../../docs/csrs.md', import.meta.url));

it('docs/csrs.md equals the CSR table', () => {
  if (process.env['UPDATE_DOCS']) writeFileSync(PATH, csrDocs());
  expect(readFileSync(PATH, 'utf8')).toBe(csrDocs());
});
