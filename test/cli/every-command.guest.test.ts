// Every command of the command line, as the definitions have it, so that none is forgotten: alone,
// and (below) with outputs that cannot be written. every-command.slow.test.ts runs all of it.
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/main.ts';
import { sha256 } from '../../toolchain/index.ts';
import { assemble, FINISH } from '../support/asm.ts';
import { isOneLine, kcovbox, kcovboxLines, type Ran, type RanLine, ROOT, shell } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-every-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Named {
  readonly words: readonly string[];
  readonly command: Command;
}

/** `command` and all below it. */
const allOf = (command: Command, words: readonly string[] = []): Named[] => [
  { words, command },
  ...command.commands.flatMap(child => allOf(child, [...words, child.name()])),
];
const all = allOf(await createProgram(undefined));
const groups = all.filter(({ command }) => command.commands.length > 0);
const leaves = all.filter(({ command }) => command.commands.length === 0);

const wordsOf = ({ words }: Named): string => `kcovbox ${words.join(' ')}`.trimEnd();

describe('a command that needs another one after it', () => {
  let ends: RanLine[];
  beforeAll(() => {
    ends = kcovboxLines(
      groups.map(({ words }) => words),
      { cwd },
    );
  });

  test.each(groups.map((group, i) => [wordsOf(group), i] as const))('%s alone', (_, i) => {
    const { words, command } = groups[i]!;
    const ran = ends[i]!;
    expect(ran).toMatchObject({ status: 125, stdout: '' });
    expect(ran.stderr).toSatisfy(isOneLine);
    expect(ran.stderr).toMatch(/a command is missing; .*--help/);
    if (words.length > 0) for (const child of command.commands) expect(ran.stderr).toContain(child.name());
  });

  test('there are eight of them, and more commands', () => {
    expect(groups.length).toBeGreaterThanOrEqual(8);
    expect(leaves.length).toBeGreaterThanOrEqual(33);
  });
});

describe('a command that lacks an argument', () => {
  const needy = leaves.filter(({ command }) => command.registeredArguments.some(({ required }) => required));
  let ends: RanLine[];
  beforeAll(() => {
    ends = kcovboxLines(
      needy.map(({ words }) => words),
      { cwd },
    );
  });

  test.each(needy.map((leaf, i) => [wordsOf(leaf), i] as const))('%s alone', (_, i) => {
    const ran = ends[i]!;
    expect(ran).toMatchObject({ status: 125, stdout: '' });
    expect(ran.stderr).toSatisfy(isOneLine);
    expect(ran.stderr).toMatch(/missing required argument|required option/);
    expect(ran.files).toEqual([]);
  });
});

const EXPERIMENT = `name: e
program: { source: ok.c, memory: 16 }
variants: { plain: {} }
trials: 10
budget: { executions: 1 }
`;

/** A command line that works, without its outputs. */
interface Line {
  readonly args: readonly string[];
  readonly input?: string;
  /** Its output does not fit into options: paths are words of the line. */
  readonly outputs?: (path: string) => readonly string[];
  /** The only suffix that it takes for an output; otherwise .kcov, which every other verb takes. */
  readonly suffix?: string;
  /** Not tried with outputs that fail; the reason. */
  readonly leftOut?: string;
}

const DEVICE = join(ROOT, 'examples', 'device', 'summer.ts');
const FACTORIAL = [join(ROOT, 'examples', 'factorial.c'), '--', '3'];

const FUZZES_ELSEWHERE = 'it needs a campaign; fuzz.guest.test.ts runs it';
const SUBMITS_ELSEWHERE = 'it needs an engine; the tests in experiment/ have it';
const RUNS_ELSEWHERE = 'it runs trials; experiment.guest.test.ts does so';

/** By the words of the command; files are made below. */
const LINES: Readonly<Record<string, Line>> = {
  demo: { args: [] },
  run: { args: ['ok.c'] },
  replay: { args: ['ok.kcapsule'] },
  debug: { args: ['-x', 'where', 'ok.kcapsule'] },
  why: { args: ['bad.kcapsule'] },
  dap: { args: [] },
  'capsule info': { args: ['ok.kcapsule'] },
  'capsule verify': { args: ['ok.kcapsule'] },
  'capsule extract': { args: ['ok.kcapsule'] },
  'capsule thin': { args: ['ok.kcapsule'] },
  'dev header': { args: [DEVICE] },
  'dev page': { args: [DEVICE] },
  'dev rdl': { args: [DEVICE] },
  'dev regs': { args: [DEVICE] },
  'faults ls': { args: [] },
  'faults sweep': { args: ['--kind', 'irq-drop', ...FACTORIAL] },
  'faults hostile': { args: ['--runs', '2', ...FACTORIAL] },
  schedules: { args: ['--smp', '2', '--runs', '2', ...FACTORIAL] },
  'fuzz run': { args: ['campaign'], leftOut: FUZZES_ELSEWHERE },
  'fuzz verify': { args: ['campaign'], leftOut: FUZZES_ELSEWHERE },
  'fuzz repro': { args: ['campaign'], leftOut: FUZZES_ELSEWHERE },
  'fuzz minimize': { args: ['campaign'], leftOut: FUZZES_ELSEWHERE },
  'fuzz exec': { args: ['p.txt'] },
  'fuzz bench': { args: [], leftOut: 'it measures; fuzz.guest.test.ts runs it' },
  'experiment plan': { args: ['e.yaml'] },
  'experiment run': { args: ['e.experiment'], leftOut: RUNS_ELSEWHERE },
  'experiment resume': { args: ['e.experiment'], leftOut: RUNS_ELSEWHERE },
  'experiment status': { args: ['e.experiment'] },
  'experiment report': { args: ['e.experiment'] },
  'experiment export': { args: ['e.experiment'] },
  'experiment reproduce': { args: ['e.crate'], leftOut: RUNS_ELSEWHERE },
  'experiment verify': { args: ['e.experiment'], leftOut: RUNS_ELSEWHERE },
  'experiment submit slurm': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment submit parallel': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment submit kubernetes': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment submit redis': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment work': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment submit snakemake': { args: ['e.experiment'], leftOut: SUBMITS_ELSEWHERE },
  'experiment shard': { args: ['e.experiment'], leftOut: RUNS_ELSEWHERE },
  'bugs list': { args: [] },
  'bugs show': { args: ['epoll_loop'] },
  'bugs enable': { args: ['epoll_loop'] },
  'bugs run': { args: ['epoll_loop'] },
  'bugs score': { args: ['ok.c'] },
  ktest: { args: ['lib_test.*'] },
  'lab ls': { args: [] },
  'lab start': { args: ['3', 'made.kcov'] },
  'lab test': { args: ['--only', 'answers', 'lab'] },
  'lab hint': { args: ['--lab', 'lab'] },
  'lab submit': { args: ['lab'], suffix: '.zip' },
  'lab new': { args: ['made.kcov'] },
  'lab check': { args: [], leftOut: 'it takes minutes; lab/ runs it' },
  grade: { args: ['class', '--lab', '0'] },
  boot: {
    args: ['-bios', 'none', '-kernel', 'stop.elf'],
    outputs: path => ['--record', path],
  },
  build: { args: ['ok.c'] },
  disasm: { args: ['00150513'] },
  symbolize: { args: ['-k', 'kernel.elf'], input: '0xffffffff80200004\n' },
  'cov report': { args: ['ok.kcov'] },
  'cov stats': { args: ['ok.kcov'] },
  'cov diff': { args: ['ok.kcov', 'other.kcov'] },
  'cov explain': { args: ['-k', 'kernel.elf', '0xffffffff80200000'] },
  'cov merge': { args: ['ok.kcov', 'other.kcov'] },
  'cov filter': { args: ['ok.kcov'] },
  'cov export': { args: ['ok.kcov'] },
  serve: { args: [], leftOut: 'it serves until it is ended; web/serve.oracle.test.ts runs it' },
  check: { args: [], leftOut: 'it needs an oracle; check.oracle.test.ts runs it' },
  'cache ls': { args: [] },
  'cache prune': { args: ['--older-than', '99999w'] },
  bench: { args: ['-r', '1', '--engines', 'kcovbox jit', 'ecall'] },
  doctor: { args: [] },
};

/** Options that name an output, with those that the suffix of a path would imply. */
const OUTPUTS: Readonly<Record<string, (path: string, words: string) => readonly string[]>> = {
  '--cover': (path, words) => [...(words === 'run' ? ['--trace'] : []), '--format', 'lcov', '--cover', path],
  '--result': path => ['--result', path],
  '--record': path => ['--record', path],
  '--snapshot': path => ['--snapshot', path],
  '--json': path => ['--json', path],
  '--svg': path => ['--svg', path],
  '--output': (path, words) => [
    ...(words === 'cov export'
      ? ['--format', 'lcov']
      : /^cov (report|diff)$/.test(words)
        ? ['--format', 'html']
        : []),
    '-o',
    path,
  ],
};
/** Options that name an input. */
const INPUTS = [
  '--device',
  '--dir',
  '--driver',
  '--kernel',
  '--kernel-source',
  '--from',
  '--batch',
  '--source',
  '--trace',
  '--source-root',
  '--teacher',
  '--lab',
  '--classroom',
  '--describe',
  '--harness',
  '--program',
  '--vmlinux',
  '--xv6',
];
const NAMES_A_PATH = /<(file|elf|dir|trace)(\.\w+)?>/;

/** The outputs that its options name; standard output is apart. */
const outputsOf = ({
  words,
  command,
}: Named): { name: string; at: (path: string) => readonly string[] }[] => {
  const key = words.join(' ');
  const { outputs } = LINES[key]!;
  const own = command.options
    .filter(option => NAMES_A_PATH.test(option.flags) && option.long! in OUTPUTS)
    .map(({ long }) => ({ name: long!, at: (path: string) => OUTPUTS[long!]!(path, key) }));
  return outputs ? [...own, { name: 'its own', at: outputs }] : own;
};

/** The files at `path`, which is one or a folder: names and hashes. */
function contentsOf(path: string): [name: string, hash: string][] {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return [];
  const names = status.isDirectory() ? (readdirSync(path, { recursive: true }) as string[]).sort() : [''];
  return names
    .filter(name => statSync(join(path, name)).isFile())
    .map(name => [name, sha256(readFileSync(join(path, name)))]);
}

/**
 * `npm test` tries all of it with a few commands: those that end their output in a way of their own
 * (a run, a guest's console, a stream, other processes), and one of the many that share
 * cli/io/output.ts. Each of the others has its turn: a part of it, chosen by the hash of the
 * bundle, so that a failure is there again until a source changes. The slow test tries all.
 */
const SAMPLE = ['run', 'replay', 'fuzz exec', 'symbolize', 'cov export', 'grade'];
/** A file, a file beside others, and a folder: with every kind of output that fails. */
const ALL_TARGETS = ['build', 'cov export', 'capsule extract'];
const isThorough = process.env['KCOVBOX_THOROUGH'] !== undefined;
kcovbox(['--version'], { cwd }); // builds the bundle where it is stale
const TURN = Number.parseInt(
  /[0-9a-f]{8}/.exec(readFileSync(join(ROOT, 'dist', 'kcovbox.cjs'), 'latin1'))![0],
  16,
);
/** One of four commands has its turn with the whole of standard output. */
const TURNS = 4;

/** Of `all`, the one whose turn it is for the command with this place. */
const turnOf = <T>(all: readonly T[], place: number): T => all[(TURN + place) % all.length]!;

const FULL = 'kcovbox: cannot write standard output: no space left on the device\n';
/** Lines of work in progress; the rest is what the command says at its end. */
const PROGRESS = /^(?:\S+: (?:built|up to date)$|\d+\/\d+ |building |kcovbox: the same run)/;
const said = (stderr: string): string =>
  stderr
    .split('\n')
    .filter(line => !PROGRESS.test(line))
    .join('\n');

describe('a command with outputs that cannot be written', () => {
  const dir = join(cwd, 'work');
  const tiny = join(cwd, 'tiny');
  let hasTiny = false;
  const tried = leaves.filter(({ words }) => !LINES[words.join(' ')]?.leftOut);

  beforeAll(() => {
    mkdirSync(dir);
    const file = (name: string, text: string | Uint8Array): void => writeFileSync(join(dir, name), text);
    file('ok.c', '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n');
    file('p.txt', 'r0 = dup(0x0)\nclose(r0)\n');
    file('bad.c', 'int main(void) { return 3; }\n');
    file('stop.elf', assemble(`li a0, 0\n${FINISH}`).bytes);
    const made = (...args: string[]): string => {
      const { status, stderr, stdout } = kcovbox(args, { cwd: dir });
      expect(stderr).not.toMatch(/^kcovbox: /m);
      expect([0, 3]).toContain(status);
      return stdout;
    };
    made('lab', 'start', '0', 'lab');
    mkdirSync(join(dir, 'class', 'ada'), { recursive: true });
    made('run', '--trace', '--cover', 'ok.kcov', '--record', 'ok.kcapsule', 'ok.c');
    made('run', '--trace', '--cover', 'other.kcov', '--record', 'bad.kcapsule', 'bad.c');
    file('e.yaml', EXPERIMENT);
    made('experiment', 'run', '-j', '1', 'e.yaml');
    symlinkSync(made('build', 'kernel').trim(), join(dir, 'kernel.elf'));
    mkdirSync(tiny);
    hasTiny = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', tiny]).status === 0;
    if (hasTiny) writeFileSync(join(tiny, 'filler'), new Uint8Array(60 << 10));
    else console.warn('skipped: a full disk; only root can mount one');
  }, 300_000);
  afterAll(() => {
    if (hasTiny) spawnSync('umount', [tiny]);
  });

  test('every command has a line here, and every option with a path is an input or an output', () => {
    expect(leaves.map(({ words }) => words.join(' ')).sort()).toEqual(Object.keys(LINES).sort());
    for (const { words, command } of leaves)
      for (const { flags, long } of command.options)
        if (NAMES_A_PATH.test(flags))
          expect([...Object.keys(OUTPUTS), ...INPUTS], words.join(' ')).toContain(long);
  });

  describe.each(tried.map((leaf, place) => [wordsOf(leaf), place] as const))('%s', (_, place) => {
    const leaf = tried[place]!;
    const { args, input = '', suffix = '.kcov' } = LINES[leaf.words.join(' ')] ?? { args: [] };
    const made = `made${suffix}`;
    const x = `x${suffix}`;
    /** Where output is required. */
    const required = (path: string): readonly string[] =>
      leaf.command.options.some(({ mandatory }) => mandatory) ? ['-o', path] : [];
    const words = (path: string): string[] => [...leaf.words, ...required(path), ...args];
    const at = (redirection: string): Ran => {
      const quoted = words(made).map(word => `'${word}'`);
      const ran = shell(`kcovbox ${quoted.join(' ')} ${redirection}`, { cwd: dir, input });
      rmSync(join(dir, made), { recursive: true, force: true });
      return ran;
    };
    let plain: Ran | undefined;
    /** The end of the line with all its streams. */
    const asUsual = (): Ran => {
      plain ??= at('');
      return plain;
    };
    const files = (): string[] => readdirSync(dir).sort();
    const isSampled = isThorough || SAMPLE.includes(leaf.words.join(' '));

    const hasTurn = isSampled || (TURN + place) % TURNS === 0;
    const streams = isSampled ? 'closed, full, or its reader has gone' : 'full';
    test.runIf(hasTurn)(`standard output is ${streams}`, () => {
      const normal = asUsual();
      expect(normal.stderr).not.toMatch(/internal error|^\s+at /m);
      const prints = normal.stdout !== '';
      const before = files();

      const full = at('>/dev/full');
      expect([full.status, said(full.stderr)]).toEqual(
        prints ? [125, FULL] : [normal.status, said(normal.stderr)],
      );
      expect(files()).toEqual(before);
      if (!isSampled) return;
      const gone = at('| true; exit $' + '{PIPESTATUS[0]}');
      expect([gone.status, said(gone.stderr)]).toEqual([
        prints ? 141 : normal.status,
        prints ? '' : said(normal.stderr),
      ]);
      // Node.js opens /dev/null in its place.
      const closed = at('>&-');
      expect([closed.status, said(closed.stderr)]).toEqual([normal.status, said(normal.stderr)]);
      expect(files()).toEqual(before);
    });

    const outputs = outputsOf(leaf);
    const someOutputs = isThorough || outputs.length === 0 ? outputs : [turnOf(outputs, place)];
    test.runIf(isSampled)(
      'standard error is full, or its reader has gone: everything else is as it was',
      () => {
        const withOutputs = someOutputs.map(({ at: to }) => [...leaf.words, ...to(made), ...args]);
        const lines = [words(made), ...withOutputs];
        for (const line of isThorough ? lines : lines.slice(-1)) {
          const quoted = line.map(word => `'${word}'`).join(' ');
          const ended = (redirection: string): unknown => {
            const ran = shell(`kcovbox ${quoted} ${redirection}`, { cwd: dir, input });
            const output = readFileSync(join(dir, 'printed'), 'utf8').replace(/\d\.\d\d s\b/g, 'T s');
            const written = contentsOf(join(dir, made));
            for (const name of [made, 'printed']) rmSync(join(dir, name), { recursive: true, force: true });
            // Samples of time differ.
            const isTimed = ['bench', 'cache', 'doctor'].includes(leaf.words[0]!);
            return [ran.status, isTimed ? written.length : [output, written]];
          };
          const normal = ended('>printed 2>/dev/null');
          expect(ended('>printed 2>/dev/full'), quoted).toEqual(normal);
          expect(ended('2>&1 >printed | true; exit $' + '{PIPESTATUS[0]}'), quoted).toEqual(normal);
        }
      },
    );

    test.runIf(isSampled)('standard input or standard error is closed', () => {
      const normal = asUsual();
      const { status, stdout } = at('<&- 2>&-');
      const prints = normal.stdout !== '' && input === '';
      expect([status, stdout !== '']).toEqual([normal.status, prints]);
    });

    test.runIf(isSampled && outputs.length > 0)('its files are written where standard output fails', () => {
      for (const { at: output, name } of someOutputs) {
        const line = [...leaf.words, ...output(made), ...args].map(word => `'${word}'`).join(' ');
        const written = (redirection: string): [number | null, string, unknown] => {
          const ran = shell(`kcovbox ${line} ${redirection}`, { cwd: dir, input });
          const files = contentsOf(join(dir, made));
          rmSync(join(dir, made), { recursive: true, force: true });
          // Samples of time differ.
          return [ran.status, said(ran.stderr), leaf.words[0] === 'bench' ? files.length : files];
        };
        const [status, stderr, files] = written('>made.out');
        expect(files, name).not.toEqual([]);
        const prints = statSync(join(dir, 'made.out')).size > 0;
        rmSync(join(dir, 'made.out'));
        expect([name, ...written('| true; exit $' + '{PIPESTATUS[0]}')]).toEqual(
          prints ? [name, 141, '', files] : [name, status, stderr, files],
        );
        expect([name, ...written('>/dev/full')]).toEqual(
          prints ? [name, 125, FULL, files] : [name, status, stderr, files],
        );
      }
    });

    test.runIf(outputs.length > 0)(`outputs: ${outputs.map(({ name }) => name).join(', ')}`, () => {
      const before = files();
      const refused = (target: string, why: RegExp, output: (path: string) => readonly string[]): void => {
        const ran = kcovbox([...leaf.words, ...output(target), ...args], { cwd: dir, input });
        const line = said(ran.stderr);
        expect({ status: ran.status, line }).toEqual({ status: 125, line: expect.stringMatching(why) });
        expect(line).toSatisfy(isOneLine);
        expect(files()).toEqual(before);
      };
      const hasAll = isThorough || ALL_TARGETS.includes(leaf.words.join(' '));
      for (const [i, { at: output, name }] of outputs.entries()) {
        const isFolder = leaf.command.options.some(
          option => option.long === name && option.flags.includes('<dir>'),
        );
        const targets = [
          () => {
            // `-` is standard output, or refused; it is no name of a file.
            const dash = kcovbox([...leaf.words, ...output('-'), ...args], { cwd: dir, input });
            expect([name, files()]).toEqual([name, before]);
            if (dash.status === 125)
              expect([name, said(dash.stderr)]).toEqual([name, expect.stringMatching(/ -: /)]);
            else expect([name, dash.stdout === '']).toEqual([name, false]);
          },
          () => refused(`/proc/${x}`, /cannot write \/proc\/x/, output),
          () =>
            refused(`ok.c/${x}`, /cannot write ok\.c\/x\.\w+: a part of its path is not a folder/, output),
        ];
        if (!isFolder)
          targets.push(
            () => refused(`nowhere/${x}`, /cannot write nowhere\/x\.\w+: no such folder/, output),
            () => {
              // A link, because its name has the suffix that the verb wants.
              const full = join(cwd, `full${suffix}`);
              rmSync(full, { force: true });
              symlinkSync('/dev/full', full);
              refused(full, /cannot write .*full\.\w+: no space left on the device/, output);
            },
          );
        if (hasTiny)
          targets.push(() => {
            // Fills what is left, so that even the first byte finds no room.
            writeFileSync(join(tiny, 'rest'), '');
            spawnSync('dd', ['if=/dev/zero', `of=${join(tiny, 'rest')}`, 'bs=4096']);
            refused(join(tiny, x), /cannot write .*tiny\/x.*: no space left on the device/, output);
            expect(readdirSync(tiny).sort()).toEqual(['filler', 'rest']);
          });
        for (const target of hasAll ? targets : [turnOf(targets, place + i)]) target();
      }
    });
  });
});
