// Loading a device from a file.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadDevice } from '../../host/device.ts';
import { ROOT } from '../support/command.ts';

it('a driver in the place of a device is named as such', () => {
  const path = join(ROOT, 'examples', 'device', 'summer.c');
  expect(() => loadDevice(path)).toThrow(
    `device ${path} is C: a device is a .ts or .js file, and its driver belongs to --driver`,
  );
});
