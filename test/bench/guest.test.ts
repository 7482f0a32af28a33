// Systems whose guests are not here have no figures, but a reason.
import { expect, test } from 'vitest';
import { missingGuest } from '../../bench/system/guest.ts';

test('a program that is not in the folder of programs is missing', () => {
  const reason = missingGuest({ kernel: 'own', programs: ['no-such-program'], script: 'no-such-program' });
  expect(reason).toMatch(/^no (busybox|no-such-program): node setup\/fetch-guests\.mjs/);
});
