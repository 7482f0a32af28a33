// Compiling files of strangers into the kernel. `confined.ts` keeps the preprocessor inside of some
// folders; kernel code also needs inline assembly, and the assembler reads files (.incbin). So a
// source becomes assembly text first, which is read here: a statement that begins with a directive
// may be one of those that clang itself writes, or that kernel code has a use for. None of them
// reads a file or makes another statement.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from './compilers.ts';
import { CompileError, ToolchainError } from './errors.ts';
import { runTool } from './tools.ts';

const DIRECTIVES = new Set(
  (
    'addrsig addrsig_sym align ascii asciz attribute balign bss byte comm data dword file globl global half ' +
    'hidden ident loc local long option p2align popsection previous pushsection quad section set short size ' +
    'skip sleb128 space string text type uleb128 variant_cc weak word zero'
  ).split(' '),
);

/** A directive that files of strangers may not use, as it is written; undefined: none. */
export function forbiddenDirective(assembly: string): string | undefined {
  for (const line of assembly.split('\n')) {
    const bare = line.replace(/"(?:[^"\\]|\\.)*"/g, '""');
    // A string that does not end on its line would make the next lines mean something else.
    if (bare.replaceAll('""', '').includes('"')) return line.trim();
    for (const statement of bare.split(';')) {
      const text = statement.replace(/^\s*(?:[\w.$@]+:\s*)*/, '');
      const [, name] = /^\.([\w.$]*)/.exec(text) ?? [];
      if (name === undefined || name.startsWith('cfi_') || DIRECTIVES.has(name)) continue;
      return `.${name}`;
    }
  }
  return undefined;
}

/** Of one tool: CPU seconds, KiB of memory, blocks of 512 bytes that a file may have. */
const LIMITS = 'ulimit -t 30; ulimit -v 6291456; ulimit -f 262144';

/** True where a shell can set limits. */
export const canLimit = (): boolean => existsSync('/bin/sh');

/** Runs a tool with limits on time, memory and the size of its files. */
export function runLimited(
  tool: string,
  args: readonly string[],
  cwd: string,
  failure: string | ((said: string) => string),
  Failure: typeof ToolchainError | typeof CompileError = CompileError,
): Promise<string> {
  if (!canLimit()) return runTool(tool, args, cwd, failure, Failure);
  const script = `${LIMITS}; exec "$0" "$@"`;
  return runTool('/bin/sh', ['-c', script, tool, ...args], cwd, failure, Failure).catch(error => {
    // The shell has become the tool: what a limit ends, a signal ends.
    if (error instanceof ToolchainError && /\(killed by SIG(XCPU|KILL|XFSZ|SEGV|ABRT)\)$/.test(error.message))
      throw new CompileError(
        `${error.message}: it takes more than 30 s, 6 GiB or a file of 128 MiB`,
        error.detail,
      );
    throw error;
  });
}

/** By compiler. */
const resourceDirs = new Map<string, Promise<string>>();

/** The folder of the compiler's own headers. */
function resourceDir(): Promise<string> {
  const clang = requireTool('clang');
  let found = resourceDirs.get(clang);
  if (!found) {
    found = runTool(clang, ['-print-resource-dir'], '/', 'clang does not name its headers');
    resourceDirs.set(clang, found);
    found.catch(() => resourceDirs.delete(clang));
  }
  return found;
}

/** Flags with which clang sees these folders and its own headers only. */
export async function visibleOnly(folders: readonly string[], overlay: string): Promise<string[]> {
  const resources = await resourceDir();
  const roots = [...folders, join(resources.trim(), 'include')].filter(existsSync).map(name => ({
    type: 'directory-remap',
    name,
    'external-contents': name,
  }));
  const file = {
    version: 0,
    'case-sensitive': 'true',
    'redirecting-with': 'redirect-only',
    'use-external-names': false,
    roots,
  };
  writeFileSync(overlay, JSON.stringify(file)); // YAML has all of JSON
  return [`-ivfsoverlay${overlay}`];
}

/** The flags of the target and of the compilation folder, which the assembler needs too. */
const OF_TARGET = /^(?:--target=|-march=|-mabi=|-mcmodel=|-mno-relax$|-ffile-compilation-dir=)/;

/** Compiles a C source of a stranger by way of checked assembly. */
export async function compileChecked(
  source: string,
  flags: readonly string[],
  object: string,
  cwd: string,
  failure: string,
): Promise<void> {
  const clang = requireTool('clang');
  const assembly = `${object}.s`;
  const toText = ['-Xclang', '-no-integrated-as', '-fno-verbose-asm', '-fno-caret-diagnostics'];
  await runLimited(clang, [...flags, ...toText, '-S', source, '-o', assembly], cwd, failure);
  const text = readFileSync(assembly, 'utf8');
  const forbidden = forbiddenDirective(text);
  if (forbidden !== undefined)
    throw new CompileError(failure, `${source}: error: inline assembly may not use ${forbidden}`);
  // As text, names of files begin with the compilation folder; a reader of DWARF adds it again.
  const [, folder] = /-ffile-compilation-dir=(\S+)/.exec(flags.join(' ')) ?? [];
  if (folder !== undefined)
    writeFileSync(assembly, text.replaceAll(` "${folder}" "`, ' "').replaceAll(`\t"${folder}" "`, '\t"'));
  const target = flags.filter(flag => OF_TARGET.test(flag));
  await runLimited(clang, [...target, '-c', assembly, '-o', object], cwd, failure);
}

/** The error with paths below `folder` as they are there: it is gone when somebody reads them. */
export function withoutFolder(error: unknown, folder: string): unknown {
  if (!(error instanceof CompileError)) return error;
  const clean = (text: string): string => text.replaceAll(`${folder}/`, '');
  return new CompileError(clean(error.message), clean(error.detail ?? ''));
}
