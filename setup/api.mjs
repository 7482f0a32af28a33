// The API reference docs/api/: from the docstrings of library/, by TypeDoc and its Markdown plugin.
// `node setup/api.mjs` writes it, a test compares it with what is there.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './ensure.mjs';
import { ENTRIES, TYPES, writeDeclarations } from './library.mjs';

const API = join(ROOT, 'docs', 'api');
const NOTICE = 'Generated from the docstrings of `library/` by `node setup/api.mjs`.';

/**
 * TypeDoc needs the compiler's API, which TypeScript 7 does not have yet: it gets TypeScript 6,
 * under another name.
 */
const RESOLVE_6 = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-6' : name, context);`;

const OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: [],
};

/** Pages by name. */
async function pages() {
  register(`data:text/javascript,${encodeURIComponent(RESOLVE_6)}`, import.meta.url);
  const { Application, LogLevel } = await import('typedoc');
  writeDeclarations();
  const tsconfig = join(TYPES, 'tsconfig.json');
  const files = ENTRIES.map(name => join('library', `${name}.d.ts`));
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: OPTIONS, files }));
  const out = mkdtempSync(join(tmpdir(), 'kcovbox-api-'));
  try {
    const app = await Application.bootstrapWithPlugins({
      entryPoints: ENTRIES.map(name => join(TYPES, 'library', `${name}.d.ts`)),
      tsconfig,
      plugin: ['typedoc-plugin-markdown'],
      logLevel: LogLevel.Warn,
      out,
      readme: 'none',
      router: 'module',
      entryFileName: 'index',
      disableSources: true,
      excludePrivate: true,
      excludeInternal: true,
      excludeExternals: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      useCodeBlocks: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      typeAliasPropertiesFormat: 'table',
      propertyMembersFormat: 'table',
      expandParameters: true,
      sort: ['source-order'],
      groupOrder: ['Functions', 'Classes', 'Interfaces', '*'],
    });
    const project = await app.convert();
    if (!project || app.logger.hasErrors()) throw new Error('the API reference cannot be made');
    await app.generateOutputs(project);
    return ENTRIES.map(name => ({
      name,
      text: tidy(readFileSync(join(out, 'kcovbox', `${name}.md`), 'utf8')),
    }));
  } finally {
    for (const folder of [out, TYPES]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Without what the signature above it says already, and with the notice below the title. */
const tidy = text =>
  text
    .replace(/^(# .*\n)/, `$1\n${NOTICE}\n`)
    .replace(/^#{4,6} (Get Signature|Call Signature)\n\n/gm, '')
    .replace(/^#{4,6} (Overrides|Inherited from|Implementation of)\n\n.*\n\n?/gm, '')
    .replace(/^#{4,6} Returns\n\n[^\n]*\n(?=\n(?:#|\*\*\*)|$(?![\s\S]))/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*#property-[^)]*\)/g, '$1') // rows of tables have no anchors
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');

/** The pages as they should be; `pathOf` says where each belongs. */
export const apiPages = pages;
export const pathOf = name => join(API, `${name}.md`);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(API, { recursive: true });
  for (const { name, text } of await pages()) writeFileSync(pathOf(name), text);
}
