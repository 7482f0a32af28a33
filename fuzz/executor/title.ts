// The title of a crash, in the shape that syzkaller gives it: the kind of the report and the
// function, without numbers, so that two reports of one bug have one title.
import type { End } from './executor.ts';

/** Functions that are on top of a backtrace for any caller. */
const HELPERS =
  /^(?:mem(?:cpy|set|move|cmp)|str\w*|panic\w*|vpanic|__asan_\w+|kasan_\w+|__ubsan_\w+|lockdebug_\w+|k(?:m|z)alloc|kfree|slab_\w+|spin_(?:un)?lock\w*|mutex_(?:un)?lock\w*|backtrace|trap_\w+)$/;

/** The same of Linux, besides those. */
const LINUX_HELPERS =
  /^(?:mem(?:cpy|set|move|cmp|scan|chr)|str\w*|panic|__warn\w*|__die|die|show_\w+|dump_\w+|print_\w+|__show_regs|walk_stackframe|report_\w+|__asan_\w+|kasan_\w+|__kasan_\w+|__ubsan_\w+|__might_\w+|do_trap\w*|handle_exception|_?raw_spin_\w+|mutex_lock\w*|lock_acquire\w*|refcount_warn_saturate|ret_from_exception|__sanitizer_\w+)$/;

/** The function on top of the first backtrace behind `at`. */
function topFrame(text: string, at: number): string {
  const lines = text.slice(at).split('\n');
  const start = lines.findIndex(line => line.startsWith('backtrace:'));
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    const name = /^ {2}\[<[0-9a-f]+>\] ([\w.$]+)\+0x/.exec(line)?.[1];
    if (name === undefined) break;
    if (!HELPERS.test(name)) return name;
  }
  return 'unknown code';
}

/** The function on top of the trace that another Linux prints behind `at`. */
function linuxFrame(text: string, at: number): string {
  for (const [, name] of text.slice(at).matchAll(/^(?:epc : |\[<[0-9a-f]+>\] )([\w.$]+)\+0x/gm))
    if (!LINUX_HELPERS.test(name!)) return name!.replace(/\.(?:constprop|isra|part|cold)\b.*$/, '');
  return 'unknown code';
}

interface Report {
  readonly pattern: RegExp;
  readonly title: (found: RegExpExecArray, text: string) => string;
}

/**
 * Not only at the start of a line: a program may have written part of one to /dev/kmsg. Each part
 * that may be any text has a bound, so that what a guest prints costs no more than its length.
 */
const REPORTS: readonly Report[] = [
  {
    pattern: /harness: (SIG[A-Z]+) behind (0x[0-9a-f]+)$/m,
    title: ([, signal, point]) => `${signal} behind ${point}`,
  },
  {
    pattern:
      /BUG: KASAN: (.{1,100}) in ([\w.$?]{1,200})\+0x[0-9a-f]{1,16}(?:\/0x[0-9a-f]{1,16})?\n(?:(Read|Write|Free) of)?/m,
    title: ([, kind, where, access], text) => {
      const place = HELPERS.test(where!) ? topFrame(text, text.indexOf(`KASAN: ${kind}`)) : where;
      return `KASAN: ${kind}${access && access !== 'Free' ? ` ${access}` : ''} in ${place}`;
    },
  },
  {
    pattern: /UBSAN: (.{1,64}) in \S{1,200}:\d{1,9}:\d{1,9}$/m,
    title: ({ 1: kind, index }, text) => `UBSAN: ${kind} in ${topFrame(text, index)}`,
  },
  {
    pattern: /WARNING: possible circular locking dependency detected$/m,
    title: ({ index }, text) => `possible deadlock in ${topFrame(text, index)}`,
  },
  {
    pattern: /INFO: task .{1,100} blocked /m,
    title: ({ index }, text) => `INFO: task hung in ${topFrame(text, index)}`,
  },
  {
    pattern: /WARNING: CPU: \d+ PID: \d+ at (?:\S+ ([\w.$]+)\+0x)?/m,
    title: warningTitle,
  },
  {
    // From Linux 6.19 on. The condition is there with CONFIG_DEBUG_BUGVERBOSE_DETAILED.
    pattern:
      /WARNING: (?:(?:\[.{1,200}\] )?\S{1,200}:\d{1,9} )?at (?:([\w.$]{1,200})\+)?0x[0-9a-f/x]{1,40}(?: \[\S{1,64}\])?, CPU#\d/m,
    title: warningTitle,
  },
  { pattern: /kernel BUG at /m, title: ({ index }, text) => `kernel BUG in ${linuxFrame(text, index)}` },
  {
    pattern:
      /Unable to handle kernel (NULL pointer dereference|paging request|access to user memory)[\w ]{0,80} at virtual/m,
    title: ({ 1: what, index }, text) => `BUG: unable to handle kernel ${what} in ${linuxFrame(text, index)}`,
  },
  {
    pattern: /Kernel panic - not syncing: (.*)$/m,
    title: ({ 1: what }) => `kernel panic: ${plain(what!)}`,
  },
  {
    pattern: /(WARNING|BUG): (?!KASAN|possible circular)(.*)$/m,
    title: ({ 1: kind, 2: what, index }, text) => `${kind}: ${plain(what!)} in ${topFrame(text, index)}`,
  },
  { pattern: /panic: hart \d+ thread -?\d+ \(.{0,64}?\): (.*)$/m, title: panicTitle },
];

function warningTitle({ 1: name, index }: RegExpExecArray, text: string): string {
  return `WARNING in ${name === undefined || LINUX_HELPERS.test(name) ? linuxFrame(text, index) : name}`;
}

function panicTitle({ 1: what, index }: RegExpExecArray, text: string): string {
  const where = topFrame(text, index);
  const fault = /^(?:load|store|instruction) page fault in the kernel: address 0x([0-9a-f]+)/.exec(what!);
  if (fault)
    return Number.parseInt(fault[1]!, 16) < 4096
      ? `BUG: unable to handle kernel NULL pointer dereference in ${where}`
      : `BUG: unable to handle kernel paging request in ${where}`;
  if (what!.startsWith('kernel stack overflow')) return `kernel stack overflow in ${where}`;
  return `kernel panic: ${plain(what!)} in ${where}`;
}

/** Without what differs between two runs: numbers and addresses. */
const plain = (text: string): string =>
  text
    .slice(0, 1000)
    .replace(/0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\b\d+\b/g, 'N')
    .trim()
    .slice(0, 100);

/** Characters of a title. */
const TITLE_MAX = 200;

/** In front of lines, where Linux is built with CONFIG_PRINTK_TIME. */
const PRINTK_TIME = /^\[ *\d+\.\d{6}\] /gm;

/** The first report on a console; undefined: the kernel has reported nothing. */
function reportTitle(printed: string): string | undefined {
  const text = printed.replaceAll(PRINTK_TIME, '');
  let first: { at: number; title: string } | undefined;
  for (const { pattern, title } of REPORTS) {
    const found = pattern.exec(text);
    if (found && (!first || found.index < first.at)) first = { at: found.index, title: title(found, text) };
  }
  return first?.title.slice(0, TITLE_MAX).trimEnd();
}

/** The last panic of xv6; behind a trap in its kernel, with the address of the instruction. */
function xv6Title(printed: string): string | undefined {
  const text = [...printed.matchAll(/panic: (.{1,100})$/gm)].at(-1)?.[1];
  if (text === undefined) return undefined;
  const trap = text === 'kerneltrap' ? /sepc=0x0*([0-9a-f]{1,16}) stval=/.exec(printed)?.[1] : undefined;
  return trap === undefined ? `panic: ${plain(text)}` : `panic: kerneltrap at 0x${trap}`;
}

/** A driver has violated a rule that a device states. */
export const violationTitle = (device: string, rule: string): string => `PROTOCOL: ${device}: ${rule}`;

/** `call`: the name of the last call that began. Undefined: nothing went wrong. */
export function titleOf(end: End, console: string, call: string | undefined): string | undefined {
  const report = console === '' ? undefined : reportTitle(console);
  if (report !== undefined) return report;
  if (end === 'panic') return xv6Title(console) ?? 'kernel panic';
  if (end === 'hang' && call?.startsWith('test_one_input')) return `hang in ${call}`;
  if (end === 'hang') return `INFO: task hung in sys_${call?.replace(/\$.*/, '') ?? 'unknown'}`;
  return undefined;
}
