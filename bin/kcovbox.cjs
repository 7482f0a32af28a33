#!/usr/bin/env node
// The command: loads the bundle dist/kcovbox.cjs, with V8's compiled code of it where an earlier
// run left that. In a checkout the bundle is built first when a source is newer. CommonJS, because
// Node starts it 5 ms sooner than a module.
'use strict';
const { existsSync, readFileSync, statSync, writeSync } = require('node:fs');
const { join } = require('node:path');
const vm = require('node:vm');

const DIST = join(__dirname, '..', 'dist');
const BUNDLE = join(DIST, 'kcovbox.cjs');
const OLDEST_NODE = 20;

function fail(message) {
  try {
    writeSync(2, `kcovbox: ${message}\n`);
  } catch (_) {} // the status says it too
  process.exit(125);
}

/** Is the bundle older than one of the files it was made from? False where there are no sources. */
function isStale() {
  if (!existsSync(join(__dirname, '..', 'cli', 'main.ts'))) return false;
  try {
    const built = statSync(BUNDLE).mtimeMs;
    const inputs = readFileSync(join(DIST, 'inputs'), 'utf8').split('\n');
    return inputs.some(path => statSync(join(DIST, '..', path)).mtimeMs > built);
  } catch (_) {
    return true; // one of them is gone
  }
}

/**
 * V8's cache holds for one bundle, one V8 with its flags and one kind of processor; V8 itself
 * checks the latter two, but not for damage. So the file is a line that names the bundle, then the
 * code twice: comparing costs a tenth of loading something that could hash.
 */
const codeFile = kind => join(DIST, `code-${kind}-${process.version}-${process.arch}`);

/** Outputs of a run that execute much code of their own. */
const OUTPUTS = ['--record', '--cover', '--result'];

/**
 * Command lines that execute much the same code share a file of it. Its first run writes it: code
 * that only later ones need would be compiled by each of them.
 */
function kindOf([verb = '', ...words]) {
  if (!/^[a-z]{1,12}$/.test(verb)) return 'other';
  const output = OUTPUTS.find(option => words.some(word => word.split('=')[0] === option));
  return verb + (output || '').slice(1);
}

/**
 * The cached code for a bundle that begins with the line `id`; undefined when there is none, or it
 * is damaged.
 */
function readCode(kind, id) {
  try {
    const file = readFileSync(codeFile(kind));
    const bytes = (file.length - id.length) / 2;
    const code = file.subarray(id.length, id.length + bytes);
    const isGood = file.latin1Slice(0, id.length) === id && code.equals(file.subarray(id.length + bytes));
    return isGood && bytes > 0 ? code : undefined;
  } catch (_) {
    return undefined;
  }
}

/**
 * Leaves the code of everything that has run by now to the next run. Where that can not be written,
 * nothing happens.
 */
function writeCode(kind, id, script) {
  const { renameSync, rmSync, writeFileSync } = require('node:fs');
  const temporary = `${codeFile(kind)}.${process.pid}.tmp`;
  try {
    const code = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([Buffer.from(id, 'latin1'), code, code]));
    renameSync(temporary, codeFile(kind));
  } catch (_) {
    try {
      rmSync(temporary, { force: true });
    } catch (_) {}
  }
}

/** Commands that execute the same code for minutes. */
const CAMPAIGNS = ['fuzz', 'experiment'];

/**
 * Flags of V8 that make runs faster; none changes a result. Each has the versions of V8 (Node.js
 * 20, 22, 24) that were seen to know it: V8 prints an error for a flag that it does not know, and
 * offers no way to ask. `except`, `only`: commands that are faster without it, or with it.
 */
const V8_FLAGS = [
  // Emitted modules carry branch hints; without the flag V8 ignores that section.
  { flag: '--experimental-wasm-branch-hinting', v8: ['11.3', '12.4', '13.6'] },
  // JavaScript is optimised later than by default: a small program has ended by then. Its
  // threads would compile functions whose optimised code never runs. Campaigns run for long.
  { flag: '--interrupt-budget=1000000', v8: ['11.3'], except: CAMPAIGNS },
  // Most warm regions of a system end before optimising them would pay; loops get there anyway,
  // after some milliseconds (docs/performance.md).
  { flag: '--wasm-tiering-budget=50000000', v8: ['11.3', '12.4', '13.6'], except: CAMPAIGNS },
  { flag: '--wasm-tiering-budget=5000000', v8: ['11.3', '12.4', '13.6'], only: CAMPAIGNS },
  // Fused multiply-add; later versions have it without a flag, and wasm/host-fma.ts looks whether
  // it is there.
  { flag: '--experimental-wasm-relaxed-simd', v8: ['11.3'] },
];

/**
 * Before anything is compiled, because cached code holds only under the flags that it was made
 * with.
 */
function setFlags(verb) {
  const { setFlagsFromString } = require('node:v8');
  const version = /^\d+\.\d+/.exec(process.versions.v8)[0];
  for (const { flag, v8, except = [], only = [verb] } of V8_FLAGS)
    if (v8.includes(version) && !except.includes(verb) && only.includes(verb)) setFlagsFromString(flag);
}

/** Evaluates the bundle; answers with its exports, and what to do after a run that went well. */
function load(verb, kind) {
  setFlags(verb);
  const source = readFileSync(BUNDLE, 'latin1'); // esbuild writes ASCII
  const id = source.slice(0, source.indexOf('\n'));
  const cachedData = readCode(kind, id);
  const script = new vm.Script(`(function(exports,require,module,__filename){${source}\n})`, {
    filename: BUNDLE,
    cachedData,
  });
  const module_ = { exports: {} };
  script.runInThisContext()(module_.exports, require, module_, BUNDLE);
  const isCached = cachedData !== undefined && script.cachedDataRejected === false;
  return { main: module_.exports.main, finish: () => isCached || writeCode(kind, id, script) };
}

async function start() {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
    fail(`Node.js ${process.version} is too old; install version ${OLDEST_NODE} or newer`);
  if (typeof WebAssembly === 'undefined')
    fail('this Node.js runs without WebAssembly; omit --jitless (also in NODE_OPTIONS)');
  if (isStale()) {
    try {
      await (await import('../setup/bundle.mjs')).bundle();
    } catch (error) {
      const { text, location } = (error.errors || [])[0] || { text: error.message.split('\n')[0] };
      const where = location ? `${location.file}:${location.line}: ` : '';
      fail(`cannot build the command: ${where}${text}; run npm start once`);
    }
  }
  const words = process.argv.slice(2);
  const { main, finish } = load(words[0], kindOf(words));
  const status = await main(process.argv);
  process.exitCode = status;
  if (status !== 125) finish();
}

start();
