// Devices of the user's own that no option names: they come with a folder or a file, which a
// stranger may have made.
import { KcovboxError } from '../emulator/index.ts';

/**
 * A device's realm (host/device.ts) lacks what would make two runs differ, but it is no wall: a
 * device is code with the user's rights. So the user's word is needed before it is loaded. Errors:
 * KcovboxError with the first of the files.
 */
export function checkTrust([path]: readonly string[]): void {
  if (path === undefined || process.env['KCOVBOX_TRUST_DEVICES'] === '1') return;
  throw new KcovboxError(
    'input',
    `device ${path} is code that runs with your rights: set KCOVBOX_TRUST_DEVICES=1 if you trust it`,
  );
}
