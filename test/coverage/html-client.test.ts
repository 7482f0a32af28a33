/** The clients of the HTML reports in their generated modules equal a build of their sources. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientModule, REPORTS } from '../../setup/client.mjs';
import { ROOT } from '../support/command.ts';

/** Addresses that nothing loads: the name of SVG's elements, and the licence of uPlot. */
const NAMES = /http:\/\/www\.w3\.org\/2000\/svg|https:\/\/github\.com\/leeoniya\/uPlot/g;

describe.each(REPORTS)('%s', report => {
  it('client.generated.ts is what the client makes now; node setup/client.mjs writes it', async () => {
    const { text, inputs } = await clientModule(report);
    expect(readFileSync(join(ROOT, report, 'client.generated.ts'), 'utf8')).toBe(text);
    expect(inputs).toContain(`${report}/client/main.ts`);
  });

  it('is ASCII and can stand inside an element', async () => {
    const { text } = await clientModule(report);
    expect(text).toMatch(/^[\n -~]*$/);
    expect(text).not.toMatch(/<\/(script|style)|<!--/i);
    expect(text.replace(NAMES, '')).not.toMatch(/https?:/);
  });
});
