// The leaks of leaks.guest.test.ts with one hart.
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { leakTests } from './leaks.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

leakTests(ready, 1);
