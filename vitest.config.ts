import { defineConfig } from 'vitest/config';

// One project per kind of test, so that each can be run alone (`npm run test:unit`, ...).
// unit:   pure host code, fast.            guest: builds and boots the guest kernel.
// oracle: compares with QEMU, libunicorn, llvm, browsers and others; prints a reason where one is
//         absent. Those programs live by the host's clock, so a test on a busy machine gets a
//         second attempt; test/support/second-attempts.ts lists each that needed it. A fault of
//         kcovbox, which is deterministic, fails both attempts; the other kinds have one.
// slow:   soak runs and real kernels; not part of `npm test`.
//
// Two workers: on two processors that are threads of one core, a third one made the tests of guests
// take 30 minutes instead of 24. Unit tests compute little for each file, and a process for each
// takes a quarter of their time, so files share the modules that they import; a file that replaces
// modules (vi.mock) resets them (test/engine/jit-shapes.test.ts).
const project = (
  name: string,
  include: string[],
  exclude: string[] = [],
  testTimeout = 60_000,
  more: { retry?: number; isolate?: boolean } = {},
) => ({
  test: { name, include, exclude, testTimeout, hookTimeout: 180_000, pool: 'forks' as const, ...more },
});

// Unit tests that compute, parse or compare texts, and neither run WebAssembly nor use files much:
// on a further version of Node.js (test/support/again.ts) they would show nothing new.
const SAME_ON_ALL = [
  'test/{coverage,docs,experiment,fuzz,grade,isa,lab,support,web}/**',
  'test/cli/{docs,help-width,repeated}.test.ts',
  'test/debug/hostile-images.test.ts',
  'test/machine/elf.test.ts',
  'test/{architecture,package-lock}.test.ts',
];
/** The recorded runs and the wrong command lines: the tests of a guest that run again. */
const GUESTS_AGAIN = ['test/capsule/golden.guest.test.ts', 'test/cli/wrong-lines.guest.test.ts'];
const isAgain = Boolean(process.env['KCOVBOX_AGAIN']);

const unlike = ['test/**/*.{guest,oracle,slow}.test.ts', ...(isAgain ? SAME_ON_ALL : [])];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('unit', ['test/**/*.test.ts'], unlike, 30_000, { isolate: false }),
      project('guest', isAgain ? GUESTS_AGAIN : ['test/**/*.guest.test.ts'], [], 180_000),
      project('oracle', ['test/**/*.oracle.test.ts'], [], 600_000, { retry: 1 }),
      project('slow', ['test/**/*.slow.test.ts'], [], 1_800_000),
    ],
  },
});
