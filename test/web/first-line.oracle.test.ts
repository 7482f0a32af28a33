// The bytes of a first visit, until a line of the kernel is coloured, and what comes after.
import { describe, expect, it } from 'vitest';
import { assetsOf } from './built.ts';
import { reason, visits } from './first-visit.ts';

describe.skipIf(reason)('a first visit', () => {
  const { site, visit } = visits();

  it('transfers at most 800 kB until then, of which 300 kB name lines', async () => {
    const context = await site.browser.newContext();
    const { came } = await visit(context);
    await context.close();
    const { programs, kernels, first } = assetsOf();
    const [capsule, load, lines, image] = programs.find(({ id }) => id === first.program)!.needs as [
      string,
      string,
      string,
      string,
    ];
    const sum = (paths: Iterable<string>): number =>
      [...paths].reduce((all, path) => all + (came.get(path) ?? Number.NaN), 0);
    const scripts = [...came.keys()].filter(path => /^(|assets\/.*|assets\.packed)$/.test(path));
    expect(sum(came.keys())).toBeLessThanOrEqual(800_000);
    expect(sum([...scripts, capsule, load])).toBeGreaterThan(300_000);
    expect(sum([lines])).toBeLessThanOrEqual(300_000);
    expect(sum([image])).toBeGreaterThan(0);
    // Nothing else is needed for it: no types, and one source text.
    const others = [...came.keys()].filter(path => ![...scripts, capsule, load, lines, image].includes(path));
    expect(others).toEqual([expect.stringMatching(/^sources-\w+\/kernel\/fs\/sys_rw\.c\.packed$/)]);
    expect(scripts.filter(path => /xterm|uplot|cpp|commands/.test(path))).toEqual([]);
    expect(kernels.some(({ rest }) => came.has(rest))).toBe(false);
  });

  it('gives the line to the page alone where lines of the last visit are kept', async () => {
    const context = await site.browser.newContext();
    const [page, worker, kernel] = [/\/assets\/page-/, /\/assets\/worker-/, /\/kernels\/.*\.load/];
    // Cold: all at once, so the page may come when the others have been requested, and no sooner.
    const asked = Promise.all(
      [worker, kernel].map(name => context.waitForEvent('request', request => name.test(request.url()))),
    );
    await context.route(page, route =>
      asked.then(
        () => route.continue(),
        () => route.abort(),
      ),
    );
    await Promise.all([asked, visit(context)]);
    await context.unroute(page);
    // Warm: the others are requested when the page has come.
    const { spans } = await visit(context);
    await context.close();
    const span = (name: RegExp) => [...spans].find(([path]) => name.test(`/${path}`))![1];
    for (const other of [worker, kernel]) expect(span(other)[0]).toBeGreaterThanOrEqual(span(page)[1]);
  });

  it('loads types and variables of the kernel for a moment inside it', async () => {
    const page = await site.browser.newPage();
    site.observed.add(page);
    const requests: string[] = [];
    page.on('request', request => requests.push(request.url()));
    await page.goto(site.home);
    await page.waitForSelector('.verdict.same');
    const rest = (): boolean => requests.some(url => url.includes('openbsd.rest-'));
    expect(rest()).toBe(false);
    await page.locator('.cm-line', { hasText: 'return transfer(fd, &it' }).first().click();
    await page.locator('.moments li button').first().click();
    // `struct iter it`, a variable with a type of the kernel.
    await page.locator('.state dt[title="struct iter"]').waitFor();
    expect(rest()).toBe(true);
    await page.close();
  });

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
