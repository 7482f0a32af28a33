// `npm test` runs the unit tests whole on one version of Node.js, and again on the others with
// KCOVBOX_AGAIN set. A version can change V8's code and Node's modules, so each kind of program
// runs again; one version is enough to show that the searches find faults.
import { describe } from 'vitest';

const isAgain = Boolean(process.env['KCOVBOX_AGAIN']);

/** A group of tests for one version of Node.js. */
export const describeOnce = isAgain ? describe.skip : describe;
if (isAgain) console.warn('skipped: that searches find faults is shown on one version of Node.js');

/** So many random programs, or a third of them where they ran on another version already. */
export const dose = (programs: number): number => (isAgain ? Math.ceil(programs / 3) : programs);
