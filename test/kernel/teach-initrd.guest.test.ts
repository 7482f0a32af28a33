// Damaged archives under kernel/fs/initrd.c, which unpacks them in a kernel without options: it
// reports the damage, keeps the members in front of it, and reports a file that is not whole. Deep
// paths under opt/paths/cpio.c, that of the whole kernel.
import { beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const NONE = new Uint8Array(0);
const encoder = new TextEncoder();

interface Header {
  readonly mode?: number;
  readonly links?: number;
  /** Sizes that the header states; default: the true ones. */
  readonly size?: number;
  readonly nameSize?: number;
}

/** One member of an archive; `name` is written as it is, with no NUL behind it. */
function member(name: string, data: Uint8Array, header: Header = {}): Uint8Array {
  const { mode = 0o100755, links = 1, size = data.length, nameSize = name.length } = header;
  const fields = [1, mode, 0, 0, links, 0, size, 0, 0, 0, 0, nameSize, 0];
  const text = `070701${fields.map(each => each.toString(16).padStart(8, '0')).join('')}${name}`;
  const start = Math.ceil(text.length / 4) * 4;
  const bytes = new Uint8Array(start + Math.ceil(data.length / 4) * 4);
  bytes.set(encoder.encode(text));
  bytes.set(data, start);
  return bytes;
}

describe.skipIf(!ready)('an archive that is damaged behind its first member', () => {
  let path: string;
  let first: Uint8Array;
  beforeAll(async () => {
    path = await kernel(prebuilt('linux+teach'));
    first = member('init\0', await program('linux-kcov.c', 'linux'));
  }, 120_000);

  const after = (...members: readonly Uint8Array[]) => {
    const end = run(path, Buffer.concat([first, ...members]), '', { harts: 4 }, 200_000_000);
    expect(end.status).toBe(0);
    return end.text;
  };
  const WORDS = encoder.encode('some words');
  const whole = member('x\0', WORDS);

  it.each<readonly [string, Uint8Array]>([
    ['a header that ends', whole.slice(0, 60)],
    ['contents that end', whole.slice(0, -8)],
    ['contents of 4 GiB', member('x\0', WORDS, { size: 0xffff_ffff })],
    ['a name of 4 GiB', member('x\0', WORDS, { nameSize: 0xffff_ffff })],
    ['a name of 0 bytes', member('x\0', WORDS, { nameSize: 0 })],
    ['a name without an end', member('xxxx', WORDS)],
    ['a path that is too long', member(`${'a/'.repeat(2500)}f\0`, WORDS)],
  ])('%s', (_, bytes) => {
    const text = after(bytes);
    expect(text).toMatch(/^initrd: no member at offset 0x[0-9a-f]+$/m);
    expect(text).toMatch(/^initrd: the archive is damaged, continuing with what was unpacked$/m);
  });

  it.each<readonly [string, Uint8Array, number]>([
    ['an empty name', member('\0', WORDS), 2],
    ['a component that is too long', member(`${'n'.repeat(256)}\0`, WORDS), 36],
    ['a file as a directory', member('init/x\0', WORDS), 20],
    ['a symbolic link', member('link\0', WORDS, { mode: 0o120777 }), 38],
    ['a hard link, whose contents are in a later member', member('sh\0', NONE, { links: 2 }), 38],
  ])('%s', (_, bytes, error) => {
    expect(after(bytes)).toMatch(new RegExp(`^initrd: can not unpack .*: errno ${error}$`, 'm'));
  });

  it('names above the root, files of no kind and devices harm nothing', () => {
    const kinds = [0, 0x1000, 0x2000, 0x6000, 0xc000, 0xf000, 0xffff_ffff];
    const text = after(
      member('../../up\0', WORDS),
      member('..\0', WORDS),
      member('/\0', WORDS),
      ...kinds.map((mode, i) => member(`kind${i}\0`, WORDS, { mode })),
    );
    expect(text.match(/^initrd: .*/gm)).toEqual([stays('..'), stays('/')]);
  });

  const stays = (name: string): string =>
    `initrd: ${name} stays what it is, a later member is of another kind`;
  it('a member with the name of one of another kind is reported', () => {
    const text = after(
      member('a/b/x\0', WORDS),
      member('a/b\0', WORDS),
      member('a/b\0', NONE, { mode: 0o040755 }),
      member('a/b/x\0', NONE, { mode: 0o040755 }),
      member('a/b/x\0', WORDS),
    );
    expect(text.match(/^initrd: .*/gm)).toEqual([stays('a/b'), stays('a/b/x')]);
  });

  it('2,000 directories cost time by their number, not by its square', () => {
    const deep = 'a/'.repeat(2000);
    const archive = Buffer.concat([first, member(`${deep}f\0`, WORDS), member(`/${deep}/g\0`, WORDS)]);
    const end = run(path, archive, '', { harts: 4 }, 30_000_000);
    expect(end.status).toBe(0);
    expect(end.text).not.toMatch(/initrd/);
  });
});

describe.skipIf(!ready)('an archive with a deep path, in the whole kernel', () => {
  it.each([2000, 2500])('%d directories cost time by their number, not by its square', async depth => {
    const archive = Buffer.concat([
      member('init\0', await program('linux-kcov.c', 'linux')),
      member(`${'a/'.repeat(depth)}f\0`, NONE),
      member(`${'a/'.repeat(depth)}g\0`, NONE),
    ]);
    const end = run(await kernel('linux'), archive, '', { harts: 4 }, 30_000_000);
    expect(end.status).toBe(0);
    // The name is longer than a line of the console. Nothing behind the damage is unpacked.
    const tooLong = [...end.text.matchAll(/^initrd: can not unpack a\/.*\.\.\.\ninitrd:/gm)];
    expect(tooLong.length).toBe(depth > 2048 ? 1 : 0);
  });
});
