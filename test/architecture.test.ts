// The house rules as tests: which module may import which, how long a file may be, and which names
// deterministic modules must not use. docs/architecture.md gives the reasons. A failure prints the
// rule.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);
const read = (path: string): string => {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return ''; // deleted but still in the index
  }
};
const sources = files.filter(path => /\.tsx?$/.test(path));

/**
 * The modules and what each may import. A module is a path prefix, or one file; the longest
 * matching prefix decides.
 */
const ALLOWED_IMPORTS: Record<string, readonly string[]> = {
  'emulator/base': [],
  'emulator/isa': ['emulator/base'],
  'emulator/bus': ['emulator/base'],
  'emulator/wasm': ['emulator/base'],
  'emulator/hart': ['emulator/base', 'emulator/isa', 'emulator/bus'],
  'emulator/engine': ['emulator/base', 'emulator/isa', 'emulator/hart', 'emulator/bus', 'emulator/wasm'],
  devices: ['emulator/base', 'emulator/bus'],
  'emulator/machine': [
    'emulator/base',
    'emulator/isa',
    'emulator/hart',
    'emulator/bus',
    'emulator/wasm',
    'emulator/engine',
    'devices',
  ],
  'emulator/debug': [
    'emulator/base',
    'emulator/isa',
    'emulator/hart',
    'emulator/bus',
    'emulator/engine',
    'emulator/machine',
  ],
  'emulator/index.ts': [
    'emulator/base',
    'emulator/isa',
    'emulator/hart',
    'emulator/bus',
    'emulator/engine',
    'emulator/machine',
    'emulator/debug',
    'devices',
  ],
  coverage: ['emulator/isa', 'emulator/base'],
  debug: ['emulator/base', 'emulator/index.ts', 'coverage/index.ts'],
  run: ['emulator/base', 'emulator/index.ts', 'coverage/record.ts'],
  fuzz: ['emulator/base', 'emulator/index.ts', 'run'],
  experiment: ['emulator/base', 'emulator/index.ts', 'coverage/index.ts', 'run', 'fuzz/index.ts'],
  toolchain: ['emulator/base'],
  // Judging runs in the page, too: it has the files of others that do not need Node.
  grade: [
    'emulator/base',
    'emulator/index.ts',
    'coverage/index.ts',
    'run',
    'host/command-line.ts',
    'host/machine.ts',
    'host/program.ts',
    'toolchain/cpio.ts',
    'toolchain/errors.ts',
  ],
  // The files of run/ and host/ are loaded one by one: a small program takes no longer than loading
  // them.
  host: ['emulator/index.ts', 'coverage/index.ts', 'toolchain/index.ts', 'run', 'fuzz', 'grade'],
  cli: [
    'emulator/base',
    'emulator/index.ts',
    'coverage/index.ts',
    'toolchain/index.ts',
    'debug',
    'run',
    'fuzz',
    'experiment',
    'grade',
    'host',
    'bench',
  ],
  // The entries of the package, one file and one folder each. Those for browsers do not import what
  // needs Node.
  'library/emulator.ts': ['emulator/base', 'emulator/bus', 'library/emulator'],
  'library/coverage.ts': ['emulator/base', 'library/coverage'],
  'library/node.ts': ['emulator/base', 'library/node', 'library/signal.ts'],
  'library/device.ts': ['emulator/base', 'emulator/bus', 'emulator/machine/device-bench.ts'],
  'library/fuzz.ts': ['emulator/base', 'fuzz', 'library/fuzz'],
  'library/bytes.ts': [],
  'library/emulator': [
    'emulator/base',
    'emulator/index.ts',
    'emulator/bus',
    'coverage/record.ts',
    'run',
    'library/bytes.ts',
  ],
  'library/coverage': ['emulator/base', 'coverage/index.ts', 'library/bytes.ts'],
  'library/signal.ts': ['emulator/base'],
  'library/fuzz': [
    'emulator/base',
    'emulator/index.ts',
    'coverage/index.ts',
    'run',
    'fuzz',
    'host/fuzz/target-machine.ts',
    'library/coverage',
    'library/signal.ts',
  ],
  'library/node': [
    'emulator/base',
    'emulator/index.ts',
    'toolchain/index.ts',
    'coverage/index.ts',
    'debug',
    'run',
    'fuzz',
    'host',
    'library/coverage',
    'library/fuzz',
    'library/signal.ts',
  ],
  // The page. Of host/ and devices/ it has the files that do not need Node.
  'web/engine': [
    'emulator/index.ts',
    'coverage/index.ts',
    'debug',
    'run',
    'host/boot-machine.ts',
    'host/machine.ts',
    'host/program.ts',
    'host/replay.ts',
    'toolchain/cpio.ts',
    'devices/kcov-layout.ts',
    'web/protocol.ts',
  ],
  'web/protocol.ts': ['coverage/index.ts'],
  'web/start': ['web/protocol.ts', 'web/file'],
  'web/file': ['web/protocol.ts'],
  'web/libraries': [],
  'web/element': [],
  'web/views': ['web/protocol.ts', 'web/start', 'web/element'],
  'web/judge': [
    'emulator/index.ts',
    'coverage/index.ts',
    'run',
    'grade',
    'host/description.ts',
    'toolchain/errors.ts',
    'web/labs/messages.ts',
  ],
  'web/labs/messages.ts': ['grade'],
  'web/labs': ['grade', 'run/capsule/zip.ts', 'web/labs/messages.ts', 'web/views'],
  'web/offline': [],
  'web/assets': [
    'emulator/index.ts',
    'coverage/index.ts',
    'debug',
    'toolchain/index.ts',
    'host',
    'web/engine/threads.ts',
    'web/protocol.ts',
  ],
  bench: ['emulator/index.ts', 'coverage/index.ts', 'toolchain/index.ts'],
  examples: ['emulator/index.ts', 'coverage/index.ts', 'toolchain/index.ts'],
};
const MODULES = Object.keys(ALLOWED_IMPORTS).sort((a, b) => b.length - a.length);
const moduleOf = (path: string): string | undefined =>
  MODULES.find(module => path === module || path.startsWith(`${module}/`));

/** Relative import targets of a file, as repository paths. */
function imports(path: string): string[] {
  const specifiers = [...read(path).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1]!);
  return specifiers
    .filter(s => s.startsWith('.'))
    .map(s => normalize(join(dirname(path), s)).replaceAll('\\', '/'));
}

/** Source text without comments and string contents, for the search of forbidden names. */
const code = (path: string): string =>
  read(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");

test('SHA-256 has one home for Node; the page as one file needs another form of it', () => {
  const homes = sources.filter(path => moduleOf(path) !== undefined && /\bcreateHash\b/.test(code(path)));
  expect(homes.sort()).toEqual(['toolchain/hash.ts', 'web/file/one-file.ts']);
});

describe('imports between modules', () => {
  const inModules = sources.filter(path => moduleOf(path) !== undefined);
  test('every import is in the table of allowed imports', () => {
    const wrong: string[] = [];
    for (const path of inModules) {
      const from = moduleOf(path)!;
      for (const target of imports(path)) {
        const to = moduleOf(target);
        if (to === undefined) wrong.push(`${path} imports ${target}, which belongs to no module`);
        else if (to !== from && !ALLOWED_IMPORTS[from]!.some(allowed => to === allowed || target === allowed))
          wrong.push(`${path} imports ${target}: ${from} may not import ${to}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('engine and hart do not know kcov: the machine injects it', () => {
    const names = sources
      .filter(path => /^emulator\/(engine|hart)\//.test(path))
      .filter(path => /kcov/i.test(read(path)));
    expect(names).toEqual([]);
  });

  test('devices do not import one another outside their own family', () => {
    // A family shares the word before the first dash: virtio-blk may import virtio-queue.
    const family = (path: string): string => path.slice('devices/'.length).split(/[-.]/)[0]!;
    const wrong = sources
      .filter(path => path.startsWith('devices/') && path !== 'devices/index.ts')
      .flatMap(path =>
        imports(path)
          .filter(target => target.startsWith('devices/') && family(target) !== family(path))
          .map(target => `${path} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  test('no import cycles', () => {
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
        return;
      }
      state.set(path, 'open');
      for (const target of imports(path)) visit(target, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of inModules) visit(path, []);
    expect(cycles).toEqual([]);
  });
});

describe('exports', () => {
  // knip takes every export of a module for used where somebody imports it as a namespace.
  test('constants of modules that are imported as a namespace are used', () => {
    const namespaces = new Set(
      sources.flatMap(path =>
        [...read(path).matchAll(/import \* as \w+ from '(\.[^']+)'/g)].map(([, target]) =>
          normalize(join(dirname(path), target!)),
        ),
      ),
    );
    expect(namespaces.size).toBeGreaterThan(3);
    const words = new Map<string, number>();
    for (const path of sources)
      for (const [word] of code(path).matchAll(/\w+/g)) words.set(word, (words.get(word) ?? 0) + 1);
    const unused = [...namespaces].flatMap(path =>
      [...code(path).matchAll(/^export (?:const|function) (\w+)/gm)]
        .filter(([, name]) => words.get(name!) === 1)
        .map(([, name]) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });
});

describe('files', () => {
  test('none is longer than 600 lines', () => {
    const long = files
      .filter(path => /\.(ts|mjs|c|h|S)$/.test(path))
      .map(path => ({ path, lines: read(path).split('\n').length - 1 }))
      .filter(({ lines }) => lines > 600)
      .map(({ path, lines }) => `${path}: ${lines} lines; split it by concept`);
    expect(long).toEqual([]);
  });

  test('every source opens with a comment that says what it is', () => {
    const bare = files
      .filter(path => /\.(ts|mjs|c|h|S)$/.test(path) && !path.endsWith('.d.ts'))
      .filter(
        path =>
          !/^(#!.*\n)?\s*(\/\/|\/\*|#)/.test(read(path)) && read(path) !== '' && path !== 'vitest.config.ts',
      );
    expect(bare).toEqual([]);
  });

  const guestCode = files.filter(path => /^(kernel|guest-programs|examples)\/.*\.[chS]$/.test(path));

  test('every file of the guest says in its first comment what it is', () => {
    const bare = guestCode.filter(path => {
      const text = read(path).replace(
        /^(\/\* kcov: not instrumented( on linux)?: .+ \*\/|\/\/ SPDX.*)\n/,
        '',
      );
      const onlyNamesOthers = text.split('\n').every(line => line === '' || line.startsWith('#'));
      return !onlyNamesOthers && !/^\/\*[\s\S]{8,}?\*\//.test(text);
    });
    expect(bare).toEqual([]);
  });

  test('no function of the guest is longer than 80 lines', () => {
    // The format puts both braces of a function, and nothing else, alone into the first column.
    const long = guestCode.flatMap(path => {
      let opened: number | undefined;
      return read(path)
        .split('\n')
        .flatMap((line, at) => {
          if (line === '{') opened = at;
          if (!line.startsWith('}') || opened === undefined) return [];
          const [from, lines] = [opened, at - opened + 1];
          opened = undefined;
          return lines > 80 ? [`${path}:${from}: ${lines} lines; give its parts names`] : [];
        });
    });
    expect(long).toEqual([]);
  });
});

describe('determinism', () => {
  const FORBIDDEN = [
    /\bDate\b/,
    /\bperformance\b/,
    /\bMath\.random\b/,
    /\bset(Timeout|Interval|Immediate)\b/,
    // A local named console is a byte sink: it has write and nothing else.
    /(?<![.#])\bconsole\b\s*\??\.\s*(?!write\b)/,
    /\bprocess\b\s*[.[]/,
    /\bwindow\b\s*\./,
    /\bdocument\b\s*\./,
    /\bcrypto\b/,
  ];
  test('emulator, devices, coverage, run and so on name no host clock, randomness, console or process', () => {
    const wrong: string[] = [];
    for (const path of sources.filter(
      p =>
        /^(emulator|devices|coverage|debug|run|fuzz|experiment|grade|library\/(emulator|coverage|bytes))/.test(
          p,
        ) && !/^(coverage|experiment)\/html\/client/.test(p),
    ))
      for (const pattern of FORBIDDEN)
        if (pattern.test(code(path))) wrong.push(`${path} names ${pattern.source}`);
    expect(wrong).toEqual([]);
  });

  test('standard error is written in one place, which tolerates its failure', () => {
    const wrong = sources
      .filter(path => /^(cli|toolchain|host|library|bench)\//.test(path))
      .filter(path => /\bprocess\s*\.\s*stderr\b|\{[^}]*\bstderr\b[^}]*\} = process\b/.test(code(path)));
    expect(wrong).toEqual(['toolchain/standard-error.ts']);
  });

  // A recursive mkdirSync never returns where a folder takes no new ones and says ENOENT (/proc).
  test('folders with those above them are made in one place, which ends everywhere', () => {
    const wrong = sources
      .filter(path => /^(cli|toolchain|host|library|bench)\//.test(path))
      .filter(path => /\bmkdir(Sync)?\([^;]*\brecursive\b/.test(code(path)));
    expect(wrong).toEqual([]);
  });

  test('they import no Node module', () => {
    const wrong = sources
      .filter(p =>
        /^(emulator|devices|coverage|debug|run|fuzz|experiment|grade|library\/(emulator|coverage|bytes))/.test(
          p,
        ),
      )
      .filter(p => /from\s*'(node:|fs|path|os)/.test(read(p)));
    expect(wrong).toEqual([]);
  });
});
