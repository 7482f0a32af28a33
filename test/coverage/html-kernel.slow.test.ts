/**
 * The HTML report of a program of 3,700 source files, as the command writes it from an ELF file, a
 * trace and the sources; Chromium opens it. docs/coverage-formats.md quotes what it prints.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallSites, Elf, pcOf, TraceBuilder, writeTrace } from '../../coverage/index.ts';
import { kcovbox } from '../support/command.ts';
import { CHROMIUM, openReport, QUIET } from './browser.ts';
import { FIXTURES, missing, run, scratch } from './support.ts';

let reason = missing('the report of a large kernel', 'clang-19', 'ld.lld-19');
if (!reason && !existsSync(CHROMIUM)) {
  reason = `the report of a large kernel skipped: no ${CHROMIUM}`;
  console.warn(reason);
}

const FILES = 3700;
/** One compilation of all would take clang much longer than so many. */
const FILES_PER_UNIT = 100;
const FUNCTIONS = 6;
const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const pathOf = (file: number): string => `drivers/d${file % 60}/file${file}.c`;

const bodyOf = (file: number): string =>
  numbers(FUNCTIONS)
    .map(
      i => `int file${file}_fn${i}(int a, int b)
{
    if (a > ${i})
        in[0] += b;
    else if (b > a)
        in[1]++;
    for (int k = 0; k < b; k++)
        in[2] += k;
    return in[3] ? a : b;
}
`,
    )
    .join('\n');
const textOf = (file: number): string => `extern volatile int in[4];\n\n${bodyOf(file)}`;

const CFLAGS = [
  '--target=riscv64-unknown-elf', '-march=rv64imac_zicsr_zifencei', '-mabi=lp64', '-mcmodel=medany',
  '-ffreestanding', '-fno-pic', '-O0', '-gdwarf-4', '-mno-relax', '-ffile-compilation-dir=.', '-c',
]; // biome-ignore format: as on a command line

/** The program: every file is a part of a unit, which `#line` names. */
function build(dir: string): string {
  const objects: string[] = [];
  const compile = (name: string, text: string, ...flags: string[]): void => {
    writeFileSync(join(dir, `${name}.c`), text);
    run('clang-19', [...CFLAGS, ...flags, `${name}.c`, '-o', `${name}.o`], { cwd: dir });
    objects.push(`${name}.o`);
  };
  for (let first = 0; first < FILES; first += FILES_PER_UNIT) {
    const files = numbers(FILES_PER_UNIT).map(i => first + i);
    const text = files.map(file => `#line 1 "${pathOf(file)}"\n${textOf(file)}`).join('');
    compile(`unit${first}`, text, '-fsanitize-coverage=trace-pc');
  }
  compile('start', 'volatile int in[4];\nvoid start_c(void) {}\n');
  compile('hooks', readFileSync(join(FIXTURES, 'hooks.c'), 'utf8'));
  run('ld.lld-19', ['-T', join(FIXTURES, 'link.ld'), '-o', 'large.elf', ...objects], { cwd: dir });
  return join(dir, 'large.elf');
}

describe.skipIf(reason)('the report of 3,700 files by the command', () => {
  const dir = scratch();
  let browser: Browser;
  let points = 0;
  let seconds = 0;

  beforeAll(async () => {
    for (const file of numbers(FILES)) {
      const path = join(dir, 'sources', pathOf(file));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf(file));
    }
    const path = build(dir);
    const elf = new Elf(readFileSync(path), path);
    const { ret } = new CallSites(elf);
    points = ret.length;
    const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId, flow: 'known' });
    for (const test of ['one', 'two']) {
      const source = builder.source({ test });
      for (const [i, pc] of ret.entries())
        if (i % 3 !== (test === 'one' ? 0 : 1)) builder.pc(source, pcOf(pc));
    }
    writeFileSync(join(dir, 'large.kcov'), Buffer.concat([...writeTrace(builder.finish())]));
    const start = performance.now();
    const args = ['cov', 'report', '-o', 'large.html', '-k', 'large.elf', '-S', 'sources', 'large.kcov'];
    const ran = kcovbox(args, { cwd: dir, timeout: 600_000 });
    seconds = (performance.now() - start) / 1000;
    expect(ran).toEqual({ status: 0, stdout: '', stderr: '' });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 1_200_000);
  afterAll(() => browser?.close());

  it('is parsed and drawn in part only', async () => {
    const url = `file://${join(dir, 'large.html')}`;
    const size = statSync(join(dir, 'large.html')).size;
    const { tab, load, parsed } = await openReport(browser, url);
    console.info(
      `${FILES} files, ${points} points, ${(size / 1e6).toFixed(1)} MB, written in ${seconds.toFixed(1)} s: ` +
        `loaded in ${load.loaded.toFixed(0)} ms, listed after ${load.listed.toFixed(0)} ms, ` +
        `${(load.parsed[0]! / 1e6).toFixed(2)} MB parsed, ${load.elements} elements`,
    );
    expect(load.parsed).toHaveLength(1);
    expect(load.parsed[0]).toBeLessThan(1_000_000);
    expect(load.elements).toBeLessThan(6000);
    expect(await tab.locator('body').textContent()).toContain('drivers');
    await tab.goto(`${url}#/file/${pathOf(1234)}:5`);
    expect(await tab.locator('tr.at .s').textContent()).toContain('if (a > 0)');
    expect((await parsed()).slice(1).length).toBeLessThanOrEqual(2);
  });
});
