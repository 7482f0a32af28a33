// A recording with every part, for tests that damage it.
import type { Recording } from '../../run/schema.ts';

const HASH = 'ab'.repeat(32);

export const SAMPLE: Recording = {
  format: 'kcovbox recording',
  version: 3,
  run: {
    format: 'kcovbox run',
    version: 1,
    images: { kernel: { id: `sha256:${HASH}`, sha256: HASH }, initrd: HASH, program: HASH },
    program: { name: 'prog', argv: ['prog', '-v'], environment: { LANG: 'C' }, cflags: ['-O2'] },
    kernel: { dialect: 'linux', conf: 'linux+kasan', append: 'init=/bin/prog quiet -- -v' },
    machine: {
      harts: 2,
      memory: 256 * 2 ** 20,
      kcov: 'device',
      seed: '0x7',
      schedSeed: null,
      icountShift: 3,
      devices: [{ kind: 'console', rows: 24, cols: 80 }],
    },
    budget: null,
    input: { kind: 'interactive', bytes: 2, sha256: HASH, rule: null, endAt: null, journal: HASH },
  },
  outcome: {
    end: 'exit',
    status: 5,
    instret: 1000,
    time: 2000,
    stateHash: '0123456789abcdef',
    runHash: { interval: 10_000_000, links: ['0123456789abcdef', '123456789abcdef0'] },
    consoleHash: HASH,
    records: 12,
  },
  journal: [
    { at: 10, port: 'uart', bytes: 'aGk=' },
    { at: 10, port: 'resize', bytes: 'GABQAA==' },
    { at: 1999, port: 'break', bytes: '' },
  ],
};
