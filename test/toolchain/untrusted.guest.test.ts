// Kernel code of strangers cannot read files of the host. Variants of inline assembly that would
// are assembled without the check first: where the object then holds the secret, the check must
// refuse the same text.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { buildKernel, forbiddenDirective, requireTool } from '../../toolchain/index.ts';
import { ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-untrusted-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const SECRET = 'the secret of this host';
const secret = join(dir, 'secret');
writeFileSync(secret, SECRET);

/** Does clang's assembler put the secret into the object? */
function leaks(assembly: string): boolean {
  const object = join(dir, 'a.o');
  rmSync(object, { force: true });
  const args = ['--target=riscv64-unknown-elf', '-c', '-x', 'assembler', '-', '-o', object];
  const { status } = spawnSync(requireTool('clang'), args, { input: assembly });
  return status === 0 && readFileSync(object).includes(SECRET);
}

const blank = fc.constantFrom('', ' ', '\t', '  \t');
const before = fc.constantFrom(
  '',
  '\n',
  'x:',
  '1: y: ',
  'nop;',
  'nop\n',
  '.text;',
  '.ascii "a;b";',
  '.ascii "#"; ',
  '# "\n',
  '/* " */ ',
);
const directive = fc.constantFrom('.incbin', '.incbin', '.INCBIN', '.IncBin', '.include', '\\n', '.inc\\n');
const after = fc.constantFrom('', '\n', ';nop', ' # c', '\n.ascii "x"', '\n.globl "a');
/** Constructs around the directive; in some of them another text becomes it. */
const frame = fc.constantFrom<(text: string) => string>(
  text => text,
  text => text,
  text => `.macro m n\n${text}\n.endm\nm .incbin\n`,
  text => `.irp n, .incbin, bin\n${text}\n.endr\n`,
  text => `.rept 1\n${text}\n.endr\n`,
  text => `.if 1\n${text}\n.endif\n`,
  text => `.set s, 1\n${text}\n.data\n`,
);

test('each text that brings a file into the object is refused', () => {
  let leaked = 0;
  fc.assert(
    fc.property(before, blank, directive, after, frame, (first, gap, name, last, around) => {
      const text = `${around(`${first}${gap}${name} "${secret}"${last}`)}\n`;
      if (!leaks(text)) return;
      leaked++;
      expect(forbiddenDirective(text), text).toBeDefined();
    }),
    { numRuns: 100, seed: 18 },
  );
  expect(leaked).toBeGreaterThan(15);
});

const overlay = (text: string): Map<string, Uint8Array> =>
  new Map([['dev/stranger.c', new TextEncoder().encode(`#include "types.h"\n${text}\n`)]]);
const build = (text: string): Promise<{ readonly path: string }> =>
  buildKernel('linux+teach', { overlay: overlay(text), say: () => {} });

test.each([
  [`__asm__(".incbin \\"${secret}\\"");`, /may not use \.incbin/],
  [
    `void f(void);\nvoid f(void) { __asm__(".macro m\\n.incbin \\"${secret}\\"\\n.endm"); }`,
    /may not use \.macro/,
  ],
  [`#include "${secret}"`, /file not found/],
  ['#include "/etc/passwd"', /file not found/],
  ['#include "../../../../../../etc/passwd"', /file not found/],
  [`const char s[] = {\n#embed "${secret}"\n};`, /file not found|not found|expected/],
  ['#if __has_include("/etc/passwd")\n#error it is there\n#else\n#error it is not\n#endif', /it is not/],
  ['int x = ;', /stranger\.c:2:9: error: expected expression/],
])('%s does not compile', async (text, why) => {
  const error = await build(text).then(
    () => undefined,
    (reason: { kind?: string; detail?: string }) => reason,
  );
  expect(error?.kind).toBe('compile');
  expect(error?.detail).toMatch(why);
  expect(error?.detail).not.toContain(SECRET);
  expect(error?.detail).not.toContain('root:');
});

test("code with the assembly of the kernel's own headers builds, without a name of this machine", async () => {
  const { path } = await build(
    `#include "riscv.h"\nu64 stranger(void);\nu64 stranger(void) { mb(); return csr_read(sstatus); } // ${dir}`,
  );
  const image = readFileSync(path, 'latin1');
  expect(image).toContain('dev/stranger.c');
  expect(image).not.toContain(`${tmpdir()}/kcovbox-kernel-`);
});

test('a file of an overlay replaces that of the kernel, or lies in a folder of its own', async () => {
  const code = (name: string) => new TextEncoder().encode(`void ${name}(void);\nvoid ${name}(void) {}\n`);
  const files = new Map([
    ['mm/stranger.c', code('first_stranger')],
    ['mm/../strange/place/stranger.c', code('second_stranger')],
  ]);
  const { path } = await buildKernel('linux+teach', { overlay: files, say: () => {} });
  const image = readFileSync(path, 'latin1');
  for (const name of ['mm/stranger.c', 'strange/place/stranger.c', 'mm/cow.c']) expect(image).toContain(name);
  expect(existsSync(join(ROOT, 'kernel', 'strange'))).toBe(false);
  expect(existsSync(join(ROOT, 'kernel', 'mm', 'stranger.c'))).toBe(false);
  const outside = new Map([['../stranger.c', code('third_stranger')]]);
  await expect(buildKernel('linux+teach', { overlay: outside, say: () => {} })).rejects.toThrow(
    '../stranger.c lies outside of the kernel tree',
  );
});
