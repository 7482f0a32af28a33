// Titles of crashes of another Linux, from what its console says. The texts have the form of those
// of Linux 6.12; the slow test of `fuzz run --linux` has them from the kernel itself.
import { expect, it } from 'vitest';
import { titleOf } from '../../fuzz/executor/title.ts';

const trace = (...names: readonly string[]): string =>
  names.map(name => `[<ffffffff80123456>] ${name}+0x2a/0x70\n`).join('');

const oops = (what: string, epc: string): string =>
  `${what}\nOops [#1]\nCPU: 0 UID: 0 PID: 21 Comm: init Not tainted 6.12.0 #1\n` +
  `Hardware name: kcovbox,virt (DT)\nepc : ${epc}+0x12/0x40\n ra : ksys_write+0x62/0xda\n` +
  `epc : ffffffff80012345 ra : ffffffff80054321 sp : ff20000000023d40\n${trace(epc, 'ksys_write')}`;

const AT = 'at virtual address';
const TITLES: readonly (readonly [title: string | undefined, console: string])[] = [
  [
    'BUG: unable to handle kernel NULL pointer dereference in pipe_write',
    oops(`Unable to handle kernel NULL pointer dereference ${AT} 0000000000000008`, 'pipe_write'),
  ],
  [
    'BUG: unable to handle kernel paging request in ksys_write',
    oops(`Unable to handle kernel paging request ${AT} ff60000012345678`, 'memcpy'),
  ],
  [
    'BUG: unable to handle kernel access to user memory in pipe_write',
    oops(
      `Unable to handle kernel access to user memory without uaccess routines ${AT} 0000000000000000`,
      'pipe_write',
    ),
  ],
  ['SIGABRT behind 0x3166a', 'harness: SIGABRT behind 0x3166a\n'],
  [
    'WARNING in lookup',
    '------------[ cut here ]------------\n' +
      `WARNING: CPU: 0 PID: 21 at fs/namei.c:1234 lookup+0x44/0x60\nModules linked in:\n${trace('lookup')}`,
  ],
  // As Linux 6.19 has it, of a module, with the condition, and without names or a file.
  [
    'WARNING in up_write',
    '------------[ cut here ]------------\n' +
      `WARNING: kernel/locking/rwsem.c:1405 at up_write+0x1e2/0x410, CPU#0: init/21\n${trace('up_write')}`,
  ],
  [
    'WARNING in put_it',
    `WARNING: drivers/m.c:14 at put_it+0x1e2/0x410 [m], CPU#1: init/21\n${trace('up_write')}`,
  ],
  [
    'WARNING in evict',
    'WARNING: [list_empty(&inode->i_lru)] lib/refcount.c:28 at refcount_warn_saturate+0x44/0x60, CPU#0: init/21\n' +
      trace('refcount_warn_saturate', 'evict'),
  ],
  ['WARNING in evict', `WARNING: at evict+0x44/0x60, CPU#0: init/21\n${trace('evict')}`],
  ['WARNING in lookup', `WARNING: fs/a.c:1 at 0xc029e04c, CPU#0: init/21\n${trace('memcpy', 'lookup')}`],
  [
    'WARNING in inode_put',
    'refcount_t: underflow; use-after-free.\n' +
      'WARNING: CPU: 0 PID: 21 at lib/refcount.c:28 refcount_warn_saturate+0x44/0x60\n' +
      trace('refcount_warn_saturate', '__warn_printk', 'inode_put.part.0'),
  ],
  [
    'kernel BUG in evict',
    `kernel BUG at fs/inode.c:700!\nKernel BUG [#1]\nepc : evict+0x12/0x40\n${trace('evict')}`,
  ],
  [
    'kernel panic: stack-protector: Kernel stack is corrupted in: f',
    'Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: f\n',
  ],
  [
    'KASAN: slab-out-of-bounds Write in sk_filter',
    'BUG: KASAN: slab-out-of-bounds in sk_filter+0x1e/0x60\nWrite of size 8 at addr ff60000012345678 by task init/21\n',
  ],
  [undefined, 'random: crng init done\ninit[21]: unhandled signal 11 code 0x1 at 0x0000000000000000\n'],
];

it.each(TITLES)('%s', (title, console) => {
  expect(titleOf('done', console, 'write')).toBe(title);
  const timed = console.replace(/^(?=.)/gm, '[    1.234567] ');
  expect(titleOf('done', timed, 'write')).toBe(title);
});

/** Parts of reports, again and again, which a regular expression must not try in all ways. */
const HOSTILE = [
  'BUG: KASAN: a in ',
  'UBSAN: a in ',
  'UBSAN: a in b:1:1:',
  'INFO: task ',
  'Unable to handle kernel paging request ',
  'panic: hart 1 thread 1 (',
  'WARNING: CPU: 1 PID: 1 at ',
  'WARNING: [a] a.c:1 at ',
  'WARNING: a.c:1 at a:1 at a',
  'BUG: ',
];

it.each(HOSTILE)('a console full of "%s" costs little', part => {
  const before = process.cpuUsage();
  titleOf('done', part.repeat(65_536 / part.length), 'write');
  const { user } = process.cpuUsage(before);
  expect(user).toBeLessThan(1_000_000); // seven seconds, once
});

it('has a bound, so that the journal can be read again', () => {
  const long = 'y'.repeat(5000);
  for (const text of [
    `BUG: KASAN: bad in ${long.slice(0, 150)}+0x1/0x2\n`,
    `kernel BUG at a.c:1!\nepc : ${long}+0x1/0x2\n`,
    `Kernel panic - not syncing: ${'z '.repeat(3000)}\n`,
  ]) {
    const title = titleOf('panic', text, 'write')!;
    expect(title.length).toBeGreaterThan(90);
    expect(title.length).toBeLessThanOrEqual(200);
  }
});
