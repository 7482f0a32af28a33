// CONTRIBUTING.md lists the places of an addition. The lists are complete: an existing instruction,
// CSR, device and so on is named in the listed files and no others; and in a copy of the sources
// that has one more of each, the type checker asks for the places of which the list says so.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT } from '../support/command.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const CONTRIBUTING = read('CONTRIBUTING.md');

const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
/** Sources of our code. Tests, and programs and drivers of the guest, use what is there. */
const FOLDERS =
  /^(bench|bin|cli|coverage|debug|devices|emulator|experiment|fuzz|grade|host|library|run|setup|toolchain|web)\//;
const sources = git.stdout
  .split('\n')
  .filter(path => FOLDERS.test(path) && /\.(ts|tsx|mjs|cjs)$/.test(path) && !/\.generated\.ts$/.test(path));

/** Without comments and imports: a place is a line that must be written for the addition. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<![:'"`])\/\/.*$/gm, '')
    .replace(/^import [\s\S]*?;$/gm, '');

const codes = new Map(
  sources.flatMap(path => {
    try {
      return [[path, codeOf(read(path))] as const];
    } catch {
      return []; // deleted, but still in the index
    }
  }),
);

const filesWith = (name: RegExp): string[] =>
  [...codes].filter(([, code]) => name.test(code)).map(([path]) => path);

/** The paragraph "**an instruction**: …" and those behind it up to the next entry. */
function entry(title: string): string {
  const [, text] = CONTRIBUTING.split(`**${title}**`);
  expect(text, title).toBeDefined();
  return text!.split(/\n\n\*\*/)[0]!;
}

/** The paths that an entry names, as patterns; a bare name is in the folder named before it. */
const namedIn = (title: string): RegExp[] => pathsIn(entry(title));

/** The paths for which the type checker asks, as an entry says. */
function askedIn(title: string): RegExp[] {
  const sentence = entry(title)
    .split(/\.\s/)
    .find(text => text.includes('type checker'));
  expect(sentence, title).toBeDefined();
  return pathsIn(sentence!.replace(/\s/g, ' '));
}

function pathsIn(text: string): RegExp[] {
  let folder = '';
  return [...text.matchAll(/`([\w./*-]+\/[\w./*-]*|[\w*-]+\.ts)`/g)].map(([, name]) => {
    const path = name!.includes('/') ? name! : `${folder}/${name}`;
    folder = path.endsWith('/') ? path.slice(0, -1) : dirname(path);
    const pattern = path.replaceAll('.', '\\.').replaceAll('*', '[\\w-]*');
    return new RegExp(path.endsWith('/') ? `^${pattern}` : `^${pattern}$`);
  });
}

describe('the places of an existing one', () => {
  test.each<readonly [title: string, name: RegExp, count: number]>([
    ['an instruction', /\bxnor\b/, 2],
    ['an instruction', /'fcvtmod\.w\.d'/, 3],
    ['a CSR', /'sscratch'/, 2],
    ['a device', /\bEdu\b|\bEDU_MAP\b|\bMAP\.edu\b|^ {2}edu: \{/m, 4],
    ['a virtio device', /\bVirtioRng\b|'rng'|'virtio-rng-device'/, 5],
    ['an inlined call', /\bkcovInlineCalls\b/, 2],
  ])('%s: %s', (title, name, count) => {
    const named = namedIn(title);
    const files = filesWith(name);
    expect(files.filter(path => !named.some(pattern => pattern.test(path)))).toEqual([]);
    expect(files).toHaveLength(count);
  });
});

describe('one more of each, in a copy', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-places-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** In these files these texts become those. */
  const CHANGED: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
    'emulator/isa/table-b.ts': [
      ["  insnB('xnor',", "  insnB('frob', R, '0100000 ..... ..... 100 ..... 0101011'),\n  insnB('xnor',"],
    ],
    'emulator/isa/csr-table.ts': [
      [
        "  stored(0x140, 'sscratch',",
        "  stored(0x5c0, 'frob', ['none', 'none'], { rule: 'frob' }),\n  stored(0x140, 'sscratch',",
      ],
    ],
    'emulator/machine/options.ts': [['VIRTIO_KINDS = [', "VIRTIO_KINDS = ['frob', "]],
    'emulator/machine/machine.ts': [
      ['import { MAP,', "import { probeCall } from './frob.ts';\nimport { MAP,"],
      [
        'romContents(PAYLOAD_BASE),\n    );',
        "romContents(PAYLOAD_BASE),\n    );\n    this.jit?.setInlineCalls('frob', [probeCall(0x8000_2000)]);",
      ],
    ],
  };

  /** A complete inlined call, as the smallest test has it; and one without its emitter. */
  const ADDED: Readonly<Record<string, string>> = {
    'emulator/machine/frob.ts': read('test/support/probe.ts')
      .replaceAll("'../../emulator/", "'../")
      .replace("'./flat.ts'", "'./memory-map.ts'"),
    'emulator/machine/frob-part.ts': [
      "import type { InlineCall } from '../engine/jit/inline-call.ts';",
      'export const part: InlineCall = { address: 0n, pa: 0, words: [], reads: 0, writes: 0, cost: 0 };',
    ].join('\n'),
  };

  test('the type checker asks for what the lists say, and for nothing else', { timeout: 120_000 }, () => {
    const generated = ['coverage', 'experiment'].map(name => join(name, 'html', 'client.generated.ts'));
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    };
    for (const path of [...codes.keys(), ...generated, 'tsconfig.json', 'package.json']) {
      let text = generated.includes(path)
        ? "export const SCRIPT = '', STYLE = '', DARK_STYLE = '';"
        : read(path);
      for (const [from, to] of CHANGED[path] ?? []) {
        expect(text.includes(from), `${path} holds ${from}`).toBe(true);
        text = text.replace(from, to);
      }
      write(path, text);
    }
    for (const [path, text] of Object.entries(ADDED)) write(path, text);
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', '.'], {
      cwd: dir,
      encoding: 'utf8',
    });
    const asked = [...new Set([...stdout.matchAll(/^([\w./-]+\.tsx?)\(/gm)].map(([, path]) => path!))].sort();
    expect(asked, stdout).toEqual([
      'emulator/engine/semantics/index.ts',
      'emulator/hart/csr-rules.ts',
      'emulator/machine/devices.ts',
      'emulator/machine/frob-part.ts',
      'library/emulator/checks.ts',
    ]);
    const said = ['an instruction', 'a CSR', 'a virtio device', 'an inlined call'].flatMap(askedIn);
    for (const path of asked)
      expect(
        said.some(pattern => pattern.test(path)),
        path,
      ).toBe(true);
    for (const pattern of said)
      expect(
        asked.some(path => pattern.test(path)),
        String(pattern),
      ).toBe(true);
  });
});
