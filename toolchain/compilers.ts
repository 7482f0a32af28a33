// Finds the host tools that compile the guest, by capability: any clang of version 16 or newer with
// the riscv64 target, under any name; lld and llvm-nm from its folder or from PATH.
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { cacheDir, writeWhole } from './cache.ts';
import { ToolchainError } from './errors.ts';
import { APT_INSTALL, DEBIAN } from './packages.ts';

export type Tool = 'clang' | 'ld' | 'nm' | 'make';

const OLDEST = 16;
const NEWEST = 30;
/** The version that the project is measured with, then newer ones, then older ones. */
const PREFERRED = 19;
const MAJORS = [
  PREFERRED,
  ...Array.from({ length: NEWEST - PREFERRED }, (_, i) => NEWEST - i),
  ...Array.from({ length: PREFERRED - OLDEST }, (_, i) => PREFERRED - 1 - i),
];

/** Folders of LLVM that are not on PATH: Homebrew on both kinds of Mac, Fedora, MacPorts. */
const FOLDERS = [
  ...['/opt/homebrew/opt', '/usr/local/opt'].flatMap(dir => [
    join(dir, 'llvm', 'bin'),
    ...MAJORS.map(major => join(dir, `llvm@${major}`, 'bin')),
    join(dir, 'lld', 'bin'),
  ]),
  ...MAJORS.flatMap(major => [`/usr/lib64/llvm${major}/bin`, `/opt/local/libexec/llvm-${major}/bin`]),
];

/** The command that installs missing tools. */
export const INSTALL_HINT =
  `install it (Debian, Ubuntu: ${APT_INSTALL} ${DEBIAN.clang} ${DEBIAN.ld} ${DEBIAN.nm} ${DEBIAN.make}; ` +
  'Fedora: dnf install clang lld llvm make; macOS: brew install llvm lld), or set KCOVBOX_CLANG to one; ' +
  'kcovbox doctor lists installed tools';

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const pathFolders = (): string[] => (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);

/** Absolute path of a command on PATH, or undefined. */
export const which = (command: string): string | undefined =>
  pathFolders()
    .map(dir => join(dir, command))
    .find(isExecutable);

/**
 * Changes when a tool is replaced; running the tool would cost more than a whole run of a small
 * program.
 */
export function identityOf(path: string): string {
  const real = realpathSync.native(path);
  const { size, mtimeMs } = statSync(real);
  return `${real} ${size} ${mtimeMs}`;
}

interface Ability {
  readonly version: string;
  readonly major: number;
  readonly riscv64: boolean;
}

const memoPath = (): string => join(cacheDir(), 'compilers.json');

function readMemo(): Record<string, Ability> {
  try {
    const memo: unknown = JSON.parse(readFileSync(memoPath(), 'utf8'));
    return typeof memo === 'object' && memo !== null ? (memo as Record<string, Ability>) : {};
  } catch {
    return {}; // not there yet, or damaged
  }
}

const isAbility = (value: Ability | undefined): value is Ability =>
  typeof value?.version === 'string' && typeof value.major === 'number' && typeof value.riscv64 === 'boolean';

/** The version and targets of a clang, kept in the cache. */
function abilityOf(path: string): Ability {
  const identity = identityOf(path);
  const memo = readMemo();
  const known = memo[identity];
  if (isAbility(known)) return known;
  const { spawnSync } = createRequire(import.meta.url)(
    'node:child_process',
  ) as typeof import('node:child_process');
  const ask = (flag: string): string =>
    spawnSync(path, [flag], { encoding: 'utf8', timeout: 20_000 }).stdout ?? '';
  const version = ask('--version').split('\n')[0] ?? '';
  const major = Number(/\bclang version (\d+)/.exec(version)?.[1] ?? 0);
  const riscv64 = /^\s*riscv64\s/m.test(ask('--print-targets'));
  const ability = { version, major, riscv64 };
  try {
    writeWhole(memoPath(), JSON.stringify({ ...memo, [identity]: ability }));
  } catch {} // asked again next time
  return ability;
}

/** The reason why a clang is unsuitable; undefined if it is suitable. */
function objection(path: string): string | undefined {
  const { major, riscv64, version } = abilityOf(path);
  if (major === 0) return `${path} is not clang`;
  if (major < OLDEST) return `${path} is version ${major}`;
  return riscv64 ? undefined : `${path} (${version}) has no riscv64 target`;
}

/** The clang that KCOVBOX_CLANG names, by path or by name. */
function chosenClang(): string | undefined {
  const chosen = process.env['KCOVBOX_CLANG'];
  if (!chosen) return undefined;
  const path = isAbsolute(chosen) || chosen.includes('/') ? resolve(chosen) : which(chosen);
  if (path === undefined || !isExecutable(path))
    throw new ToolchainError(`KCOVBOX_CLANG=${chosen}: no such program`);
  const why = objection(path);
  if (why) throw new ToolchainError(`KCOVBOX_CLANG=${chosen}: ${why}; clang ${OLDEST} or newer is needed`);
  return path;
}

function* clangs(): Generator<string> {
  const suffix = process.env['KCOVBOX_LLVM'];
  const names = suffix ? [`clang${suffix}`] : [...MAJORS.map(major => `clang-${major}`), 'clang'];
  for (const name of names) for (const dir of pathFolders()) yield join(dir, name);
  for (const dir of FOLDERS) yield join(dir, 'clang');
}

/** Tools of the same LLVM lie beside its clang, or beside what that is a link to. */
function companion(name: string): string | undefined {
  const clang = findTool('clang');
  if (clang === undefined) return undefined;
  const suffix = /clang(-\d+)?$/.exec(basename(clang))?.[1] ?? '';
  const beside = [dirname(clang), dirname(realpathSync.native(clang)), ...pathFolders(), ...FOLDERS];
  for (const dir of beside)
    for (const path of [join(dir, name + suffix), join(dir, name)]) if (isExecutable(path)) return path;
  return undefined;
}

const found = new Map<string, string | undefined>();

function search(tool: Tool): string | undefined {
  if (tool === 'make') return which('gmake') ?? which('make');
  if (tool !== 'clang') return companion(tool === 'ld' ? 'ld.lld' : 'llvm-nm');
  const chosen = chosenClang();
  if (chosen) return chosen;
  for (const path of clangs()) if (isExecutable(path) && objection(path) === undefined) return path;
  return undefined;
}

/**
 * Absolute path of a suitable tool; undefined if there is none. Errors: KCOVBOX_CLANG names an
 * unsuitable one.
 */
export function findTool(tool: Tool): string | undefined {
  const { PATH, KCOVBOX_CLANG, KCOVBOX_LLVM } = process.env;
  const key = [tool, PATH, KCOVBOX_CLANG, KCOVBOX_LLVM].join('\0');
  if (!found.has(key)) found.set(key, search(tool));
  return found.get(key);
}

/** The names of the tools in messages. */
const CALLED: Readonly<Record<Tool, string>> = {
  clang: `clang ${OLDEST} or newer with the riscv64 target`,
  ld: 'ld.lld of LLVM',
  nm: 'llvm-nm of LLVM',
  make: 'make',
};

/** Absolute path of a tool. Errors: ToolchainError of one line that says what to install. */
export function requireTool(tool: Tool): string {
  const path = findTool(tool);
  if (path !== undefined) return path;
  const tried = tool === 'clang' ? rejected() : [];
  const because = tried.length > 0 ? ` (${tried.slice(0, 3).join('; ')})` : '';
  const suffix = tool === 'clang' ? process.env['KCOVBOX_LLVM'] : undefined;
  const chosen = suffix ? `KCOVBOX_LLVM=${suffix}: ` : '';
  throw new ToolchainError(`${chosen}${CALLED[tool]} is not here${because}; ${INSTALL_HINT}`);
}

/** Installed compilers that are unsuitable, with the reason. */
function rejected(): string[] {
  const reasons = [...new Set(clangs())].filter(existsSync).map(objection);
  return reasons.filter(reason => reason !== undefined);
}

/** Identity of the compiler for cache keys, so that an upgrade rebuilds. */
export const clangIdentity = (): string => identityOf(requireTool('clang'));

/** First line of `clang --version`. */
export const clangVersion = (): string => abilityOf(requireTool('clang')).version;
