/** The client of the HTML report in the exporter equals a build of its sources. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clientModule } from '../../setup/client.mjs';
import { ROOT } from '../support/command.ts';

it('client.generated.ts is what the client makes now; node setup/client.mjs writes it', async () => {
  const { text, inputs } = await clientModule();
  expect(readFileSync(join(ROOT, 'coverage/html/client.generated.ts'), 'utf8')).toBe(text);
  expect(inputs).toContain('coverage/html/client/main.ts');
});

it('is ASCII and can stand inside an element', async () => {
  const { text } = await clientModule();
  expect(text).toMatch(/^[\n -~]*$/);
  expect(text).not.toMatch(/<\/(script|style)|<!--/i);
  expect(text).not.toMatch(/https?:/);
});
