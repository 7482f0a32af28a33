// The programs of suites.guest.test.ts that do not run there with all code of the guest compiled.
import { describe } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { OTHERS, suiteTests } from './suites.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('programs of the real systems, compiled', () => suiteTests(OTHERS, true));
