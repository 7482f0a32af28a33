// Bundles the scripts and the style of the page (web/), and writes its index.html. Scripts are
// packed with gzip, because a host need not compress what it serves; the first script unpacks them.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ROOT } from './ensure.mjs';

const LIBRARIES = ['xterm', 'uplot', 'cpp', 'commands'];
/**
 * Modules of the page that a library uses too: two copies of them would not know each other's
 * objects. web/views/language.ts hands them over.
 */
const SHARED = {
  name: 'shared modules',
  setup(build) {
    build.onResolve({ filter: /^@(codemirror\/(language|state|view)|lezer\/(common|highlight))$/ }, () => ({
      path: 'shared',
      namespace: 'shared',
    }));
    build.onLoad({ filter: /.*/, namespace: 'shared' }, () => ({
      contents: 'module.exports = globalThis.kcovboxShared;',
    }));
  },
};

/** Zod's writers of JSON Schema: the page reads data by its schemas, and prints none. */
const NO_JSON_SCHEMA = {
  name: 'no JSON Schema',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/ }, () => ({
      contents:
        'exports.createToJSONSchemaMethod = exports.createStandardJSONSchemaMethod = () => undefined;',
    }));
  },
};

/** Zod's formats of strings that no schema of the page has. One that had would match nothing. */
const NO_FORMATS = {
  name: 'no formats of strings',
  setup(build) {
    const format =
      /^(export const (?:\w*[eE]mail|guid|duration|ipv[46]|cidrv[46]|base64url|hostname|domain|e164)) = .*$/gm;
    build.onLoad({ filter: /zod\/v4\/core\/regexes\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(format, '$1 = /(?!)/;'),
    }));
  },
};

/** Zod's support of data with cycles: the page's comes from JSON, which has none. */
const NO_CYCLES = {
  name: 'no cycles',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/core\/memoizer\.js$/ }, () => ({
      contents: `export class $ZodCyclicError extends Error {}
        export const memoizer = () => undefined;
        export const isBackEdge = () => false;
        export const isRecursiveSchema = () => false;`,
    }));
  },
};

/** Words about registers and where they are specified, for docs/devices.md: the page shows none. */
const NO_WORDS = {
  name: 'no words about registers',
  setup(build) {
    build.onLoad({ filter: /[/\\]devices[/\\][\w-]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/,\s*(?:doc|spec): '(?:[^'\\]|\\.)*'/g, ''),
      loader: 'ts',
    }));
  },
};

/** Words about extensions, for docs/isa.md. */
const NO_EXTENSION_WORDS = {
  name: 'no words about extensions',
  setup(build) {
    const row = /^( +(?:letter|always|optional|opposite|absent)\(.*), *'(?:[^'\\]|\\.)*'\),$/gm;
    build.onLoad({ filter: /[/\\]isa[/\\]extensions\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(row, "$1, ''),"),
      loader: 'ts',
    }));
  },
};

/** Words about CSRs and where they are specified, for docs/csrs.md. */
const NO_CSR_WORDS = {
  name: 'no words about CSRs',
  setup(build) {
    const about = /\[(?:'[^']*'|[A-Z]+), '(?:[^'\\]|\\.)*'\](?=[,)])/g;
    build.onLoad({ filter: /[/\\]isa[/\\]csr-table\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(about, "['', '']"),
      loader: 'ts',
    }));
  },
};

/** Words about the fields of files, of which docs/schemas/ are made. */
const NO_DESCRIPTIONS = {
  name: 'no words about fields',
  setup(build) {
    build.onLoad({ filter: /[/\\]run[/\\](?:\w+[/\\])?schema\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/\s*\.describe\(\s*(['"`])(?:(?!\1)[^\\])*\1,?\s*\)/g, ''),
      loader: 'ts',
    }));
  },
};

/** Numbers of records: the page's listener takes every record. */
const NO_TALLY = {
  name: 'no tally',
  setup(build) {
    build.onLoad({ filter: /[/\\]kcov-inline[/\\]tally\.ts$/ }, () => ({
      contents: 'export const TALLY_BYTES = 0; export class RecordTally {}',
    }));
  },
};

/** Profiles of earlier runs: the page has no cache of them. */
const NO_PROFILE = {
  name: 'no profile',
  setup(build) {
    build.onLoad({ filter: /[/\\]jit[/\\]policy[/\\]profile\.ts$/ }, () => ({
      contents: `export class ProfiledCode {
          hint() { return false; }
          reached() {}
          compiled() {}
        }`,
    }));
  },
};

/**
 * Records in batches: the page's listener is not passive, so the device gets each record. The
 * recorder asks for a ring before that listener takes its place; this one gives all to the device.
 */
const NO_RING = {
  name: 'no ring',
  setup(build) {
    build.onLoad({ filter: /[/\\]kcov-inline[/\\]ring\.ts$/ }, () => ({
      contents: `export const RING_BYTES = 0;
        export class RecordRing {
          pending = 0;
          repeats = { clear() {} };
          constructor(ram, base, slow) { this.make = slow; }
          take() {}
          makeRoom() {}
          announce() {}
          follow() {}
          refuse() {}
        }`,
    }));
  },
};

/** Calls with equal records are one: the page keeps each of them. */
const NO_FOLDING = {
  name: 'no folding',
  setup(build) {
    build.onLoad({ filter: /[/\\]run[/\\]call-folding\.ts$/ }, () => ({
      contents: 'export class CallFolding { use() {} }',
    }));
  },
};

/** Conditions and texts of breakpoints: those of the page have none. */
const NO_RULES = {
  name: 'no rules',
  setup(build) {
    build.onLoad({ filter: /[/\\]debug[/\\]rules\.ts$/ }, () => ({
      contents: `export class Echo { begin() {} forget() {} say() {} }
        export const ruleOf = () => ({});
        export const meets = () => ({});`,
    }));
  },
};

/** The page runs one engine at a time. */
const NO_LOCKSTEP = {
  name: 'no lockstep',
  setup(build) {
    build.onLoad({ filter: /[/\\]machine[/\\]engine-pair\.ts$/ }, ({ path }) => ({
      contents:
        "import { Machine } from './machine.ts'; export const createMachine = o => Machine.create(o);",
      resolveDir: dirname(path),
    }));
  },
};

/**
 * Zod probes at once whether it may compile its schemas with `new Function`. The page's policy
 * forbids that, and to report the place V8 parses the whole script again: 110 ms of each start of a
 * worker.
 */
const NO_EVAL = 'globalThis.__zod_globalConfig={jitless:true};';

/** The script and the style of an entry. */
async function bundled(entry, format = 'iife', plugins = []) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`web/${entry}`],
    outdir: 'unused',
    bundle: true,
    minify: true,
    write: false,
    format,
    ...(/^(engine|judge)\/worker/.test(entry) && { banner: { js: NO_EVAL } }),
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'error',
    plugins: [
      ...plugins,
      NO_JSON_SCHEMA,
      NO_FORMATS,
      NO_CYCLES,
      NO_WORDS,
      NO_EXTENSION_WORDS,
      NO_CSR_WORDS,
      NO_DESCRIPTIONS,
      NO_TALLY,
      NO_PROFILE,
      NO_RING,
      NO_FOLDING,
      NO_RULES,
      NO_LOCKSTEP,
    ],
  });
  const text = end => outputFiles.find(({ path }) => path.endsWith(end))?.text.trim();
  return { script: text('.js'), style: text('.css') };
}

/** By gzip, with blocks of the length that packs it best. */
const packed = text =>
  [6, 7, 8]
    .map(memLevel => gzipSync(text, { level: 9, memLevel }))
    .reduce((best, other) => (other.length < best.length ? other : best));

/** Writes a file whose name has the hash of its contents; the path. */
function hashed(folder, name, end, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const path = `assets/${name}-${hash}.${end}`;
  writeFileSync(join(folder, path), end === 'packed' ? packed(text) : text);
  return path;
}

/** A page of web/ with its scripts; `links` go in front of them. */
function writeHtml(folder, name, links, scripts, start) {
  const head = [
    ...links,
    `<script type="application/json" id="scripts">${JSON.stringify(scripts)}</script>`,
    `<script defer src="${start}"></script>`,
  ];
  const html = readFileSync(join(ROOT, 'web', name), 'utf8');
  writeFileSync(join(folder, name), html.replace('<!-- scripts -->', head.join('\n    ')));
}

/** `folder`: gets the page, and a copy of everything in `assets`. */
export async function writePage(folder, assets) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  cpSync(assets, folder, { recursive: true });
  const packed = async (name, entry, format, plugins) =>
    hashed(folder, name, 'packed', (await bundled(entry, format, plugins)).script);
  const page = await bundled('views/main.tsx');
  const libraries = {};
  for (const name of LIBRARIES) libraries[name] = await packed(name, `libraries/${name}.ts`, 'esm', [SHARED]);
  const scripts = {
    page: hashed(folder, 'page', 'packed', page.script),
    style: hashed(folder, 'style', 'packed', page.style),
    worker: await packed('worker', 'engine/worker.ts'),
    libraries,
  };
  scripts.build = createHash('sha256')
    .update(JSON.stringify(scripts))
    .update(readFileSync(join(folder, 'assets.packed')))
    .digest('hex')
    .slice(0, 12);
  const start = hashed(folder, 'start', 'js', (await bundled('start/folder.ts')).script);
  // web/start/folder.ts requests the worker, which is the largest, when it is its turn.
  const early = [scripts.page, scripts.style, `assets.packed?${scripts.build}`].map(
    path => `<link rel="preload" as="fetch" crossorigin href="${path}" />`,
  );
  writeHtml(folder, 'index.html', early, scripts, start);
  const labs = await bundled('labs/main.tsx', 'esm');
  const labScripts = {
    page: hashed(folder, 'labs', 'packed', labs.script),
    style: hashed(folder, 'labs-style', 'packed', labs.style),
    worker: await packed('labs-worker', 'judge/worker.ts'),
    libraries,
    build: scripts.build,
  };
  const labStart = hashed(folder, 'labs-start', 'js', (await bundled('start/labs.ts')).script);
  writeHtml(folder, 'labs.html', [], labScripts, labStart);
  cpSync(join(ROOT, 'web', 'element', 'textbook.html'), join(folder, 'textbook.html'));
  writeFileSync(join(folder, 'kcovbox-run.js'), (await bundled('element/kcovbox-run.ts')).script);
  const own = `const OWN_FILES=${JSON.stringify(hashedIn(folder))};`;
  writeFileSync(join(folder, 'offline.js'), own + (await bundled('offline/worker.ts')).script);
}

/** Paths and folders whose names have a hash. */
function hashedIn(folder) {
  const all = readdirSync(folder, { recursive: true }).sort();
  return all.filter(path => /-\w{8,}(\.\w+)?$/.test(path) && !/^sources-\w+\//.test(path));
}

/** The script of the page as one file. */
export const firstOfFile = async () => (await bundled('start/file.ts')).script;
