// Historical bugs in the guest: ordinary kernels have none of them, and each shows with its trigger
// and with nothing else. A sample by seed here, all of them in bugs.slow.test.ts.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBugs, triggerOf } from '../../cli/bugs/rows.ts';
import { readElf } from '../../emulator/index.ts';
import { SCHEMAS } from '../../run/schemas.ts';
import { buildKernel, findTool, hasGlibc } from '../../toolchain/index.ts';
import { kcovbox, ROOT, shell } from '../support/command.ts';
import { prebuilt } from '../support/kernels.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { isCleanWithout, shows } from './bugs.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const CONF = prebuilt('linux+kasan+ubsan+debug+bugs');
const SAMPLE = 4;

const NOTE = /\bBUG_(?:NOTE|NOTE_MORE|WATCH|NOTE_WATCHED)\(/g;

/** The end of the parentheses that are open at `at`. */
function closed(text: string, at: number): number {
  for (let depth = 1; depth > 0; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')') depth--;
    else if (text[at] === undefined) throw new Error('a parenthesis is not closed');
  }
  return at;
}

/** A source without guards: their value where there are no bugs is written in their place. */
function stripped(text: string): string {
  let [bare, end] = ['', 0];
  for (const { index, 0: begin } of text.matchAll(NOTE)) {
    const next = closed(text, index + begin.length);
    bare += `${text.slice(end, index)}((void)0)${text.slice(index, next).replace(/[^\n]/g, '')}`;
    end = next;
  }
  return `${bare}${text.slice(end)}`.replace(/#include "bugs\.h"/, '').replace(/\bBUG\(\w+\)/g, '0');
}

describe.skipIf(!ready)('historical bugs', () => {
  const bugs = readBugs();
  const seed = seedFromEnvironment(0xb065);
  const random = new Random(seed);
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bugs-'));
    await buildKernel(CONF);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('an ordinary kernel is the one whose sources have no guards, byte for byte', async () => {
    const tree = join(folder, 'kernel');
    cpSync(join(ROOT, 'kernel'), tree, { recursive: true, filter: path => !path.endsWith('/build') });
    rmSync(join(tree, 'opt/bugs'), { recursive: true });
    rmSync(join(tree, 'include/bugs.h'));
    let guarded = 0;
    for (const path of readdirSync(tree, { recursive: true }) as string[]) {
      if (!path.endsWith('.c')) continue;
      const text = readFileSync(join(tree, path), 'utf8');
      if (!text.includes('bugs.h')) continue;
      guarded++;
      const bare = stripped(text);
      expect(bare).not.toMatch(/\bBUG(_\w+)?\(/);
      writeFileSync(join(tree, path), bare);
    }
    expect(guarded).toBeGreaterThan(20);
    const image = async (source?: string) => {
      const { path } = await buildKernel('linux', { source });
      const { segments, symbols } = readElf(readFileSync(path), path);
      return {
        segments: segments.map(({ vaddr, data }) => [vaddr, Buffer.from(data).toString('base64')]),
        symbols,
      };
    };
    const [own, bare] = [await image(), await image(tree)];
    expect(own.symbols.filter(({ name }) => /^bug_|^bugs_/.test(name))).toEqual([]);
    expect(own.segments).toEqual(bare.segments);
  });

  const sample = Array.from({ length: SAMPLE }, () => bugs.splice(random.below(bugs.length), 1)[0]!);
  const count = bugs.length + sample.length;
  it.each(sample.map(bug => [bug.id, bug] as const))(
    `%s shows, and a kernel without it is clean (seed ${seedText(seed)})`,
    (_, bug) => {
      shows(bug);
      isCleanWithout(bug);
    },
  );

  it.each(['the tree', 'another folder'])(
    'in %s, the line of bugs enable makes a capsule that repeats',
    at => {
      const cwd = at === 'the tree' ? ROOT : folder;
      const bug = sample[0]!;
      const { stdout } = kcovbox(['bugs', 'enable', bug.id], { cwd });
      const capsule = join(folder, 'a.capsule');
      const line = stdout
        .trim()
        .replace('kcovbox run', `kcovbox run --max-insns 400000000 --record ${capsule}`);
      const ran = shell(line, { cwd });
      expect([1, 124, 126], ran.stderr).toContain(ran.status);
      const again = kcovbox(['replay', capsule], { cwd: folder });
      expect({ status: again.status, stdout: again.stdout }).toEqual({
        status: ran.status,
        stdout: ran.stdout,
      });
    },
  );

  it('list and run print what their tables say as JSON, too', () => {
    const json = (...words: string[]) => {
      const { status, stdout, stderr } = kcovbox(['bugs', ...words, '--json'], { cwd: ROOT });
      expect(stderr).toBe('');
      return { status, value: JSON.parse(stdout) as unknown };
    };
    const list = json('list', '--class', 'concurrency');
    expect(SCHEMAS.bugs.parse(list.value).bugs).toEqual(
      readBugs().filter(bug => bug.class === 'concurrency'),
    );
    const found = json('run', 'epoll_loop');
    expect(found.status).toBe(0);
    const shown = SCHEMAS['bug-run'].parse(found.value);
    const { stdout } = kcovbox(['bugs', 'run', 'epoll_loop'], { cwd: ROOT });
    expect(stdout).toMatch(new RegExp(`^reached +${shown.reached.toLocaleString('en-US')} times?$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^detected +${shown.detected}: `, 'm'));
    const off = json('run', 'epoll_loop', '--off');
    expect(off.status).toBe(0);
    expect(SCHEMAS['bug-run'].parse(off.value)).toMatchObject({ on: false, reached: 0, detected: null });
  });

  it('score counts the bugs that a corpus shows, and no others', () => {
    const corpus = join(folder, 'corpus');
    mkdirSync(corpus);
    const inlined = (id: string): string =>
      readFileSync(triggerOf(id), 'utf8').replace('../trigger.h', join(ROOT, 'bugs/trigger.h'));
    for (const id of ['epoll_loop', 'eventfd_semaphore_underflow'])
      writeFileSync(join(corpus, `${id}.c`), inlined(id));
    const { status, stdout } = kcovbox(['bugs', 'score', corpus], { cwd: ROOT });
    expect(status).toBe(0);
    const rows = stdout.split('\n').map(line => line.split(/ {2,}/));
    const cells = (id: string) => rows.find(row => row[0] === id)?.slice(2, 5);
    expect(cells('epoll_loop')).toEqual(['1', '1', '1']);
    expect(cells('eventfd_semaphore_underflow')).toEqual(['1', '1', '1']);
    expect(stdout).toMatch(new RegExp(`^of ${count} bugs: \\d+ reached, 2 triggered, 2 detected$`, 'm'));
    const json = kcovbox(['bugs', 'score', '--json', corpus], { cwd: ROOT });
    const scored = SCHEMAS['bug-score'].parse(JSON.parse(json.stdout));
    expect(scored.bugs).toHaveLength(count);
    const program = join(corpus, 'epoll_loop.c');
    expect(scored.bugs.find(({ id }) => id === 'epoll_loop')).toMatchObject({
      reached: expect.arrayContaining([program]),
      triggered: [program],
      detected: [program],
    });
    expect(scored.bugs.filter(({ triggered }) => triggered.length > 0)).toHaveLength(2);
  });
});
