// Epolls and kqueues that watch each other, on every dialect's kernel with the checkers of locks
// and of memory. On OpenBSD a task wakes the watchers of a kqueue, on the others the event itself.
import { describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('queues that watch queues', () => {
  it.each([
    prebuilt('openbsd+kasan+lockdep'),
    prebuilt('netbsd+kasan+lockdep'),
    prebuilt('freebsd+kasan+lockdep'),
    prebuilt('linux+kasan+lockdep'),
  ])('%s: no loop, no long path, and every event arrives', async conf => {
    const archive = initrd({ 'bin/watch-graphs': await program('tests/watch-graphs.c') });
    const append = 'init=/bin/watch-graphs panic_on_warn -- 60 1';
    const end = run(await kernel(conf), archive, append, { harts: 2 });
    expect(failures(end.text)).toEqual([]);
    expect(end.status).toBe(0);
    expect(end.text).not.toMatch(/BUG:|WARNING:/);
  });
});
