// CONTRIBUTING.md lists the places of an addition. The lists are complete: an existing instruction,
// CSR, device and so on is named in the listed files and no others; and in a copy of the sources
// that has one more of each, the type checker asks for the listed places.
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
const FOLDERS = /^(bench|bin|cli|coverage|debug|devices|emulator|host|library|run|setup|toolchain|web)\//;
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
function namedIn(title: string): RegExp[] {
  let folder = '';
  return [...entry(title).matchAll(/`([\w./*-]+\/[\w./*-]*|[\w*-]+\.ts)`/g)].map(([, name]) => {
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

  /** In these files this text becomes that. */
  const CHANGED: Readonly<Record<string, readonly [from: string, to: string]>> = {
    'emulator/isa/table-b.ts': [
      "  insnB('xnor',",
      "  insnB('frob', R, '0100000 ..... ..... 100 ..... 0101011'),\n  insnB('xnor',",
    ],
    'emulator/isa/csr-table.ts': [
      "  stored(0x140, 'sscratch',",
      "  stored(0x5c0, 'frob', ['none', 'none'], { rule: 'frob' }),\n  stored(0x140, 'sscratch',",
    ],
    'emulator/machine/options.ts': ['VIRTIO_KINDS = [', "VIRTIO_KINDS = ['frob', "],
  };

  test('the type checker asks for the listed places, and for no others', () => {
    const generated = join('coverage', 'html', 'client.generated.ts');
    for (const path of [...codes.keys(), generated, 'tsconfig.json', 'package.json']) {
      const text = path === generated ? "export const SCRIPT = '', STYLE = '', DARK_STYLE = '';" : read(path);
      const [from, to] = CHANGED[path] ?? ['', ''];
      expect(text.includes(from), path).toBe(true);
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text.replace(from, to));
    }
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', '.'], {
      cwd: dir,
      encoding: 'utf8',
    });
    const asked = new Set([...stdout.matchAll(/^([\w./-]+\.tsx?)\(/gm)].map(([, path]) => path!));
    expect([...asked].sort(), stdout).toEqual([
      'emulator/engine/semantics/index.ts',
      'emulator/hart/csr-rules.ts',
      'emulator/machine/devices.ts',
      'library/emulator/checks.ts',
    ]);
    const listed = ['an instruction', 'a CSR', 'a virtio device'].flatMap(namedIn);
    for (const path of asked)
      expect(
        listed.some(pattern => pattern.test(path)),
        path,
      ).toBe(true);
  });
});
