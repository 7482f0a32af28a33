import { defineConfig } from 'vitest/config';

// One project per kind of test, so that each can be run alone (`npm run test:unit`, ...).
// unit:   pure host code, fast.            guest: builds and boots the guest kernel.
// oracle: compares with QEMU, libunicorn, llvm, browsers and others; prints a reason where one is
//         absent. Those programs live by the host's clock, so a test on a busy machine gets a
//         second attempt; test/support/second-attempts.ts lists each that needed it. A fault of
//         kcovbox, which is deterministic, fails both attempts; the other kinds have one.
// slow:   soak runs and real kernels; not part of `npm test`.
const project = (
  name: string,
  include: string[],
  exclude: string[] = [],
  testTimeout = 60_000,
  retry = 0,
) => ({
  test: { name, include, exclude, testTimeout, retry, hookTimeout: 180_000, pool: 'forks' as const },
});

// Unit tests that compute or compare texts, and neither run WebAssembly nor use files much: on a
// further version of Node.js (test/support/again.ts) they would show nothing new.
const SAME_ON_ALL = [
  'test/{docs,experiment,fuzz,grade,isa,lab,support,web}/**',
  'test/cli/{docs,help-width,repeated}.test.ts',
];
const again = process.env['KCOVBOX_AGAIN'] ? SAME_ON_ALL : [];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('unit', ['test/**/*.test.ts'], ['test/**/*.{guest,oracle,slow}.test.ts', ...again], 30_000),
      project('guest', ['test/**/*.guest.test.ts'], [], 180_000),
      project('oracle', ['test/**/*.oracle.test.ts'], [], 600_000, 1),
      project('slow', ['test/**/*.slow.test.ts'], [], 1_800_000),
    ],
  },
});
