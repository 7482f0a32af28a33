// Each option of the kernel on top of the core, in two dialects.
import { options, testsAlone } from './options.ts';

testsAlone(
  options.map(({ name }) => name),
  ['linux', 'openbsd'],
);
