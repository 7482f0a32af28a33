// The programs of the page's menu: each is recorded once, when the page is built.

export interface ProgramSource {
  readonly id: string;
  readonly title: string;
  /** One sentence: what is to be seen. */
  readonly about: string;
  readonly dialect: 'openbsd' | 'netbsd' | 'freebsd' | 'linux';
  readonly path: string;
  /** More words of `kcovbox run`, and arguments of the program behind `--`. */
  readonly options?: readonly string[];
  readonly input?: string;
  /** The first schedule seed that is tried: the recorded run is one that fails. */
  readonly failsFrom?: number;
}

const EXAMPLE: Readonly<Record<string, string>> = {
  openbsd: 'The same question in C as one writes it for OpenBSD, and the PCs of the answer.',
  netbsd: 'The same question on NetBSD, with its own names and errors.',
  freebsd: 'The same question on FreeBSD, where an area is whole pages.',
  linux: 'The same question on Linux.',
};
const NAMES: Readonly<Record<string, string>> = {
  openbsd: 'OpenBSD',
  netbsd: 'NetBSD',
  freebsd: 'FreeBSD',
  linux: 'Linux',
};

export const PROGRAMS: readonly ProgramSource[] = [
  {
    // The first one: without a C library it has 5 kB, and the reader waits for 280 kB less.
    id: 'bare',
    title: 'one system call',
    about: 'Which kernel code does read(-1, NULL, 0) run? A program of thirty lines asks kcov.',
    dialect: 'openbsd',
    path: 'examples/bare.c',
    options: ['--cflags', '-g -O0 -nostdlib -static'],
  },
  ...(['openbsd', 'netbsd', 'freebsd', 'linux'] as const).map(dialect => ({
    id: `kcov-${dialect}`,
    title: `kcov on ${NAMES[dialect]}`,
    about: EXAMPLE[dialect]!,
    dialect,
    path: `guest-programs/${dialect}-kcov.c`,
  })),
  {
    id: 'hello',
    title: 'hello, world',
    about: 'The smallest program: what it takes to print a line.',
    dialect: 'openbsd',
    path: 'examples/hello.c',
  },
  {
    id: 'remote-openbsd',
    title: 'remote coverage',
    about: 'What the kernel does later for a process, in its own threads and interrupts.',
    dialect: 'openbsd',
    path: 'guest-programs/openbsd-remote-kcov.c',
  },
  {
    id: 'remote-linux',
    title: 'remote coverage on Linux',
    about: 'Kernel threads and soft interrupts, collected by handles.',
    dialect: 'linux',
    path: 'guest-programs/linux-remote-kcov.c',
  },
  {
    id: 'interrupt',
    title: 'a driver and its interrupt',
    about: 'A device works, its interrupt arrives, and the coverage of the handler is ours.',
    dialect: 'openbsd',
    path: 'examples/interrupt.c',
  },
  {
    id: 'factorial',
    title: 'a device at work',
    about: 'ioctl(2) starts a computation in a device, and its interrupt wakes the caller.',
    dialect: 'openbsd',
    path: 'examples/factorial.c',
  },
  {
    id: 'cost',
    title: 'the cost of a system call',
    about: 'Time is counted in instructions, so each call costs the same in every run.',
    dialect: 'openbsd',
    path: 'examples/cost.c',
  },
  {
    id: 'lines',
    title: 'reading input',
    about: 'Three lines of input arrive by a rule of virtual time, and are counted.',
    dialect: 'openbsd',
    path: 'examples/lines.c',
    input: 'one\ntwo\nthree\n',
  },
  {
    id: 'constants',
    title: 'magic constants',
    about: 'Comparison records show which values the kernel compares an argument with.',
    dialect: 'linux',
    path: 'examples/constants.c',
  },
  {
    id: 'race',
    title: 'a data race',
    about: 'Two threads on two harts add to one counter without a lock.',
    dialect: 'openbsd',
    path: 'examples/race.c',
    options: ['--smp', '2', '--sched-seed', '7'],
  },
  {
    id: 'lost',
    title: 'a lost update',
    about: 'Two tellers pay into one account without a lock, and a payment is lost: which one?',
    dialect: 'openbsd',
    path: 'examples/lost.c',
    options: ['--smp', '2'],
    failsFrom: 11,
  },
  {
    id: 'overrun',
    title: 'a heap overrun',
    about: 'The crash comes long after the store that caused it: who wrote this last?',
    dialect: 'openbsd',
    path: 'examples/overrun.c',
  },
];
