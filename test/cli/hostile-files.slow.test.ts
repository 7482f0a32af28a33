// Damaged traces, images and cache manifests through the command: each run ends with what it was
// asked for, or with one line, status 125 and no file. `KCOVBOX_RUNS` and `KCOVBOX_SEED` scale it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Elf, writeTrace } from '../../coverage/index.ts';
import { badByte, blocksOf, fileOf, mutate } from '../coverage/hostile-files.ts';
import { buildFixture, fixture, fixtureTrace, missing, scratch } from '../coverage/support.ts';
import { isOneLine, kcovbox } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const reason = missing('damaged files through the command', 'clang-19', 'ld.lld-19');
const RUNS = Number(process.env['KCOVBOX_RUNS'] ?? 5000);
const TIME_LIMIT = 60_000;

/** Damages sections that readers look into, and sometimes headers. */
function damagedElf(whole: Uint8Array, random: Random): Uint8Array {
  const bytes = whole.slice();
  const sections = new Elf(whole, 'x.elf').sections.filter(
    ({ name, size }) => /^\.(debug|symtab|strtab|text)/.test(name) && size > 0,
  );
  for (let n = 1 + random.below(6); n > 0; n--) {
    const section = random.pick(sections);
    const inHeaders = random.oneIn(4);
    const at = inHeaders ? random.below(64) : section.offset + random.below(section.size);
    bytes[at] = badByte(random);
  }
  return random.oneIn(10) ? bytes.slice(0, random.below(bytes.length)) : bytes;
}

function damagedText(text: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(text);
  for (let n = 1 + random.below(4); n > 0; n--) bytes[random.below(bytes.length)] = badByte(random);
  return random.oneIn(5) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

/** Commands on a damaged trace, and their outputs. */
const ON_TRACES = [
  ['cov', 'stats', '-k', 'good.elf', 'bad.kcov'],
  ['cov', 'report', '-k', 'good.elf', '-o', 'out.html', 'bad.kcov'],
  ['cov', 'export', '-k', 'good.elf', '-o', 'out.info', 'bad.kcov'],
  ['cov', 'merge', '-o', 'out.kcov', 'bad.kcov', 'good.kcov'],
  ['cov', 'filter', '--kind', 'pc', '-o', 'out.kcov', 'bad.kcov'],
  ['cov', 'diff', '-k', 'good.elf', '-o', 'out.html', 'bad.kcov', 'good.kcov'],
];
const ON_IMAGES = [
  ['cov', 'stats', '-k', 'bad.elf', 'good.kcov'],
  ['cov', 'report', '-k', 'bad.elf', '-o', 'out.html', 'good.kcov'],
  ['symbolize', '-k', 'bad.elf', '0xffffffff80200010'],
  ['disasm', '-k', 'bad.elf', 'main'],
  ['boot', '-bios', 'none', '-kernel', 'bad.elf', '--max-insns', '20000', '-nographic'],
];
const ON_MANIFESTS = [
  ['cache', 'ls'],
  ['build', 'prog.c', '-o', 'out.prog'],
];

test.skipIf(reason)(`${RUNS} damaged files: a result or one line`, { timeout: 1e8 }, () => {
  const seed = seedFromEnvironment(0x6b636f76);
  const random = new Random(seed);
  const dir = join(scratch(), 'hostile-files');
  const cache = join(dir, 'cache');
  mkdirSync(dir, { recursive: true });
  const at = (name: string): string => join(dir, name);
  const elf = new Uint8Array(readFileSync(buildFixture())); // slices of a Buffer share its bytes
  const trace = Buffer.concat([...writeTrace(fixtureTrace(fixture()))]);
  const ends = JSON.parse(Buffer.from(blocksOf(trace).at(-1)!.payload).toString()) as Record<string, number>;
  const blocks = blocksOf(trace).slice(0, -1);
  writeFileSync(at('good.elf'), elf);
  writeFileSync(at('good.kcov'), trace);
  writeFileSync(at('prog.c'), 'int main(void) { return 3; }\n');
  const run = (args: readonly string[]) =>
    kcovbox(args, { cwd: dir, timeout: TIME_LIMIT, env: { KCOVBOX_CACHE: cache } });
  expect(run(['build', 'prog.c', '-o', 'out.prog']).status).toBe(0);
  cpSync(cache, at('good-cache'), { recursive: true });
  const counts = { ok: 0, refused: 0 };
  for (let i = 0; i < RUNS; i++) {
    const kind = random.below(8);
    let args: readonly string[];
    if (kind < 4) {
      args = random.pick(ON_TRACES);
      writeFileSync(at('bad.kcov'), fileOf(mutate(blocks, random), ends['records']!, ends['cmps']!));
    } else if (kind < 7) {
      args = random.pick(ON_IMAGES);
      writeFileSync(at('bad.elf'), damagedElf(elf, random));
    } else {
      args = random.pick(ON_MANIFESTS);
      rmSync(cache, { recursive: true, force: true });
      cpSync(at('good-cache'), cache, { recursive: true });
      const folder = join(cache, 'program');
      const manifest = join(folder, readdirSync(folder).find(name => name.endsWith('.json'))!);
      writeFileSync(manifest, damagedText(readFileSync(manifest), random));
    }
    for (const name of readdirSync(dir)) if (name.startsWith('out.')) rmSync(at(name));
    const { status, stderr } = run(args);
    const what = `run ${i} of seed ${seedText(seed)}: ${args.join(' ')}: ${stderr}`;
    const output = args[args.indexOf('-o') + 1]!;
    const isWritten = args.includes('-o') && existsSync(at(output));
    expect(
      readdirSync(dir).filter(name => name.endsWith('.tmp')),
      what,
    ).toEqual([]);
    if (kind === 7) expect(status, what).toBe(0);
    if (status === 125) {
      counts.refused++;
      expect(stderr, what).not.toContain('internal error');
      // `boot` may say first what the file lacks.
      if (!isOneLine(stderr))
        expect(
          stderr
            .trimEnd()
            .split('\n')
            .every(line => isOneLine(`${line}\n`)),
          what,
        ).toBe(true);
      expect(isWritten, what).toBe(false);
    } else {
      counts.ok++;
      // A damaged kernel runs into its budget, or ends as it likes. symbolize says 1 for
      // addresses that it does not know.
      expect([0, 1, ...(args[0] === 'boot' ? [status] : [])], what).toContain(status);
      if (args.includes('-o')) expect(isWritten, what).toBe(true);
    }
  }
  console.info(`damaged files: ${JSON.stringify(counts)}, seed ${seedText(seed)}`);
  expect(counts.ok).toBeGreaterThan(RUNS / 20);
  expect(counts.refused).toBeGreaterThan(RUNS / 20);
});
