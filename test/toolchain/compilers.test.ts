// Compilers are found by their reported capabilities, under any name.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clangVersion, findTool, requireTool } from '../../toolchain/index.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kcovbox-compilers-'));
  vi.stubEnv('PATH', dir);
  vi.stubEnv('KCOVBOX_CACHE', join(dir, 'cache'));
  vi.stubEnv('KCOVBOX_CLANG', undefined);
  vi.stubEnv('KCOVBOX_LLVM', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

/** A program of this name that answers as a clang of this version with these targets would. */
function clang(name: string, version: string, targets = 'riscv64     - 64-bit RISC-V'): string {
  const path = join(dir, name);
  const said = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${version}"; else echo "    ${targets}"; fi\n`;
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, said);
  chmodSync(path, 0o755);
  return path;
}

test('the measured version comes first, whatever else is here', () => {
  clang('clang', 'clang version 21.1.0');
  clang('clang-21', 'clang version 21.1.0');
  const wanted = clang('clang-19', 'Debian clang version 19.1.7 (3~deb12u1)');
  expect(findTool('clang')).toBe(wanted);
  expect(clangVersion()).toBe('Debian clang version 19.1.7 (3~deb12u1)');
});

test('a name without a number will do, one of another kind or age will not', () => {
  clang('clang-17', 'clang version 15.0.0');
  clang('clang-16', 'clang version 16.0.6', 'x86-64 - 64-bit X86');
  const wanted = clang('clang', 'clang version 20.1.8 (Fedora 20.1.8-4.fc42)');
  expect(findTool('clang')).toBe(wanted);
});

test('lld and llvm-nm are those of the same LLVM', () => {
  clang('clang-18', 'Ubuntu clang version 18.1.3');
  clang('ld.lld', '');
  const [ld, nm] = [clang('ld.lld-18', ''), clang('llvm-nm', '')];
  expect([findTool('ld'), findTool('nm')]).toEqual([ld, nm]);
});

test('KCOVBOX_CLANG wins by path or name, and is refused when it will not do', () => {
  clang('clang-19', 'clang version 19.1.7');
  const own = clang('llvm/bin/riscv-clang', 'clang version 17.0.1');
  vi.stubEnv('KCOVBOX_CLANG', own);
  expect(findTool('clang')).toBe(own);
  vi.stubEnv('KCOVBOX_CLANG', clang('apple', 'Apple clang version 15.0.0', 'arm64 - ARM64'));
  expect(() => findTool('clang')).toThrow(/^KCOVBOX_CLANG=.*apple: .*apple is version 15; clang 16 or newer/);
  vi.stubEnv('KCOVBOX_CLANG', 'nothing-of-this-name');
  expect(() => findTool('clang')).toThrow('KCOVBOX_CLANG=nothing-of-this-name: no such program');
});

test('one line says what is here, why it will not do, and what to install', () => {
  clang('clang', 'clang version 14.0.6');
  let message = '';
  try {
    requireTool('clang');
  } catch (error) {
    message = (error as Error).message;
  }
  // A machine of a kind whose LLVM is not on PATH has one here all the same.
  if (message === '') return expect(findTool('clang')).toMatch(/^\/(opt|usr)\//);
  expect(message).toMatch(
    /^clang 16 or newer with the riscv64 target is not here \(.*clang is version 14\); install it \(Debian/,
  );
  expect(message).not.toContain('\n');
});

test('a compiler is asked once; the answer holds until it is replaced', () => {
  const path = clang('clang', 'clang version 18.0.0');
  expect(clangVersion()).toBe('clang version 18.0.0');
  clang('clang', 'clang version 19.0.0 (another size)');
  expect(path).toBe(findTool('clang'));
  expect(clangVersion()).toBe('clang version 19.0.0 (another size)');
});
